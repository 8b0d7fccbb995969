from __future__ import annotations

from typing import Any

import pytest
import torch

from glassformer.data.batch import PairBatch
from glassformer.lessons.stacks.decoder_contributions import NAMES, look, verdicts
from glassformer.loading import open_config
from glassformer.models.build import build
from lesson_models import tiny_result


def data(update: tuple[float, float], worth: tuple[float, float]) -> dict[str, Any]:
    def around(value: float) -> dict[str, Any]:
        return {"mean": value, "low": value - 0.1, "high": value + 0.1, "n": 5}

    return {
        "first": {"update": around(update[0]), "worth": around(worth[0])},
        "second": {"update": around(update[1]), "worth": around(worth[1])},
        "means": {m: {name: around(1.0) for name in NAMES} for m in ("update", "worth")},
    }


def test_the_rule() -> None:
    def verdict(update: tuple[float, float], worth: tuple[float, float]) -> str:
        return verdicts(data(update, worth))["sublayer-order"].verdict

    assert verdict((1, 1), (1, 1)) == "confirmed"
    assert verdict((1, 1), (1, -1)) == "depends"
    assert verdict((1, -1), (-1, 1)) == "refuted"
    assert verdict((1, 0.05), (-1, 1)) == "undecided"


def test_a_part_that_adds_nothing_is_worth_nothing() -> None:
    model = build(open_config("small-translator"), seed=0).eval()
    with torch.no_grad():
        model.get_parameter("decoder.blocks.0.cross_attention.w_o.weight").zero_()
        model.get_parameter("decoder.blocks.0.cross_attention.w_o.bias").zero_()
    tokens = torch.randint(5, 50, (2, 6))
    found = look(model, PairBatch(tokens, None, tokens, tokens, tokens.numel()))
    assert found["update"]["cross_attention"][0] == 0 and found["worth"]["cross_attention"][0] == 0
    assert found["together"]["feed_forward"][0] != found["worth"]["feed_forward"][0]
    assert found["update"]["self_attention"][0] > 0 and found["worth"]["self_attention"][0] != 0


@pytest.mark.slow
def test_another_translator_gives_other_numbers() -> None:
    one, other = (tiny_result("decoder_contributions", seed) for seed in (0, 1))
    assert one["trained"]["worth"] != other["trained"]["worth"]
