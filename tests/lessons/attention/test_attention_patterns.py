from __future__ import annotations

from typing import Any

import pytest
import torch

from glassformer.lessons.attention.attention_patterns import allowed, divergence, short, verdicts
from lesson_models import tiny_result


def found(*, error: float = 0.0, leak: float = 0.0, more: tuple[float, ...] = (0.1, 0.2)) -> dict[str, Any]:
    sums = {"error": error, "leak": leak, "longest": 16, "rows": 1, "blocked": 1}
    apart = {
        f"encoder-{layer}": {
            "trained": 0.5,
            "untrained": 0.5 - effect,
            "more": {"mean": effect, "low": effect - 0.01, "high": effect + 0.01, "n": 3},
        }
        for layer, effect in enumerate(more)
    }
    return {"sums": sums, "apart": apart}


def test_the_rule_of_softmax_sums() -> None:
    assert verdicts(found(error=1e-6))["softmax-sums"].verdict == "confirmed"
    assert verdicts(found(error=1e-5))["softmax-sums"].verdict == "refuted"
    assert verdicts(found(leak=1e-30))["softmax-sums"].verdict == "refuted"


def test_the_rule_of_heads_differ() -> None:
    assert verdicts(found())["heads-differ"].verdict == "confirmed"
    assert verdicts(found(more=(-0.1, -0.2)))["heads-differ"].verdict == "refuted"
    assert verdicts(found(more=(0.1, 0.0)))["heads-differ"].verdict == "undecided"
    mixed = verdicts(found(more=(-0.1, 0.2)))["heads-differ"]
    assert mixed.verdict == "depends"
    assert (mixed.measured["confirms"], mixed.measured["refutes"]) == ("encoder-1", "encoder-0")


@pytest.mark.slow
def test_another_model_gives_other_numbers() -> None:
    one, other = (tiny_result("attention_patterns", seed) for seed in (0, 1))
    assert one["sums"]["blocked"] > 0 and one["sums"]["leak"] == 0.0
    assert one["heads"] != other["heads"]
    assert one["apart"] == other["apart"]  # of translators trained in the lesson, by its own seeds


def test_heads_that_look_alike_are_not_apart_and_heads_without_a_common_key_are_one_bit_apart() -> None:
    same = torch.tensor([[[[0.5, 0.5]], [[0.5, 0.5]]]], dtype=torch.float64)  # b h t s
    opposite = torch.tensor([[[[1.0, 0.0]], [[0.0, 1.0]]]], dtype=torch.float64)
    assert float(divergence(same)) == pytest.approx(0.0, abs=1e-12)
    assert float(divergence(opposite)) == pytest.approx(1.0)


def test_three_heads_are_three_pairs() -> None:
    two_alike = torch.tensor([[[[1.0, 0.0]], [[1.0, 0.0]], [[0.0, 1.0]]]], dtype=torch.float64)
    assert float(divergence(two_alike)) == pytest.approx(2 / 3)


def test_what_may_be_seen_follows_from_the_batch() -> None:
    mask = torch.tensor([[True, True, False]])
    square = torch.zeros(1, 2, 3, 3)
    assert allowed("decoder-1", square, mask)[0, 0].tolist() == torch.ones(3, 3).tril().bool().tolist()
    assert allowed("cross-1", square, mask)[0, 0].tolist() == [[True, True, False]] * 3
    assert allowed("encoder-1", square, None).all()


def test_short_names() -> None:
    assert short("decoder.blocks.1.cross_attention.weights") == "cross-2"
    assert short("encoder.blocks.0.self_attention.weights") == "encoder-1"
