from __future__ import annotations

from math import log
from typing import Any

import pytest
import torch
from torch import nn

from glassformer.layers.norm import LayerNorm
from glassformer.lessons.experiment import Outcome
from glassformer.lessons.families.parts_that_matter import CLAIMED, PARTS, Classifier, verdicts
from glassformer.lessons.setup import LessonSetup
from glassformer.models.presets import PRESETS
from lesson_models import tiny_result


def one(off: float, out: float, share: float = 0.005) -> dict[str, Any]:
    def lost(value: float) -> dict[str, Any]:
        return {"mean": value, "low": value - 0.01, "high": value + 0.01}

    return {
        "full": {"accuracy": {"mean": 0.9}},
        "chance": 0.5,
        "silenced": {"lost": lost(1.0)},
        "share": dict.fromkeys(PARTS, share),
        "switched_off": {part: {"lost": lost(off)} for part in PARTS},
        "left_out": {part: {"lost": lost(out)} for part in PARTS},
    }


def words(small: dict[str, Any], mini: dict[str, Any]) -> list[str]:
    return [found.verdict for found in verdicts({**small, "mini": mini}).values()]


def test_the_rules() -> None:
    """Of feed-forward, norm and classifier; only the last two are said to be small."""
    key, idle = one(0.9, 0.9), one(0.1, 0.1)
    assert list(verdicts({**key, "mini": key})) == list(CLAIMED)
    assert words(key, key) == ["confirmed"] * 3
    assert words(idle, idle) == ["refuted"] * 3
    assert words(key, idle) == words(one(0.9, 0.1), one(0.9, 0.1)) == ["depends"] * 3
    assert words(key, one(0.505, 0.9)) == ["undecided"] * 3
    assert words(one(0.9, 0.9, share=0.02), one(0.9, 0.9, share=0.02)) == ["confirmed", "refuted", "refuted"]


@pytest.fixture(scope="module")
def classifier() -> Classifier:
    less = {"data.source.count": 120, "data.validation": 20, "train.steps": 2, "model.d_model": 32, "model.d_ff": 128}
    return Classifier(LessonSetup(seeds=(0, 1)), less)


@pytest.mark.slow
def test_a_part_that_is_off_has_no_say(classifier: Classifier) -> None:
    whole = classifier.experiment.train(0)
    before = {part: classifier.switched_off(whole, part, 0)["loss"] for part in PARTS}
    changed: Any = whole.model
    with torch.no_grad():
        for block in changed.encoder.blocks:
            block.feed_forward.w_2.weight.mul_(5)
        changed.encoder.final_norm.weight.mul_(3)
    other = Outcome(changed, whole.config, [], [])
    after = {part: classifier.switched_off(other, part, 0)["loss"] for part in PARTS}
    assert after["attention"] != before["attention"]
    assert classifier.silenced(whole)["loss"] == pytest.approx(log(2))
    with torch.no_grad():
        changed.encoder.final_norm.weight.div_(3)
    assert classifier.switched_off(whole, "feed_forward", 0)["loss"] == pytest.approx(before["feed_forward"])


@pytest.mark.slow
def test_what_is_left_out_does_not_learn(classifier: Classifier) -> None:
    whole: Any = classifier.experiment.train(0, validated=False).model
    frozen: Any = classifier.left_out("classifier", 0).model
    bare: nn.Module = classifier.left_out("norm", 0).model
    assert not any(isinstance(module, LayerNorm) for module in bare.modules())
    assert not frozen.head.output.weight.requires_grad and frozen.head.output.bias.eq(0).all()
    assert not whole.head.output.bias.eq(0).all()
    assert 0.5 <= classifier.majority() < 1.0


@pytest.mark.slow
def test_one_of_the_two_models_is_the_one_that_is_counted() -> None:
    """The mini-classifier to the last parameter: 976,704 + 5 × 6,464 + 33."""
    found = tiny_result("parts_that_matter")["mini"]
    assert found["parameters"] == 1_009_057
    assert found["share"]["classifier"] == pytest.approx(33 / 1_009_057)
    assert PRESETS["mini-classifier"]().norm_order == "post"
