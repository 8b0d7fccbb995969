from __future__ import annotations

from math import log
from typing import Any

import pytest
import torch
from torch import nn

from glassformer.layers.norm import LayerNorm
from glassformer.lessons.families.parts_that_matter import (
    PARTS,
    RECIPE,
    left_out,
    majority,
    silenced,
    switched_off,
    verdicts,
)
from glassformer.lessons.short import Experiment, Outcome


def hand_made(off: float, out: float, share: float = 0.005) -> dict[str, Any]:
    def lost(value: float) -> dict[str, Any]:
        return {part: {"lost": {"mean": value, "low": value - 0.01, "high": value + 0.01}} for part in PARTS}

    return {
        "full": {},
        "chance": 0.5,
        "silenced": {},
        "share": dict.fromkeys(PARTS, share),
        "switched_off": lost(off),
        "left_out": lost(out),
    }


def test_the_rule() -> None:
    assert verdicts(hand_made(0.9, 0.9))["parts-that-matter"].verdict == "confirmed"
    assert verdicts(hand_made(0.9, 0.9, share=0.02))["parts-that-matter"].verdict == "depends"
    assert verdicts(hand_made(0.9, 0.1))["parts-that-matter"].verdict == "depends"
    assert verdicts(hand_made(0.505, 0.1))["parts-that-matter"].verdict == "refuted"


@pytest.fixture(scope="module")
def experiment() -> Experiment:
    less = {"data.source.count": 120, "data.validation": 20, "train.steps": 2}
    return Experiment("sentiment", {**RECIPE, **less})


@pytest.mark.slow
def test_a_part_that_is_off_has_no_say(experiment: Experiment) -> None:
    whole = experiment.train(0)
    before = {part: switched_off(experiment, whole, part, 0)["loss"] for part in PARTS}
    changed: Any = whole.model
    with torch.no_grad():
        for block in changed.encoder.blocks:
            block.feed_forward.w_2.weight.mul_(5)
        changed.encoder.final_norm.weight.mul_(3)
    after = {part: switched_off(experiment, Outcome(changed, whole.config, [], []), part, 0)["loss"] for part in PARTS}
    assert after["attention"] != before["attention"]
    assert silenced(experiment, whole)["loss"] == pytest.approx(log(2))
    with torch.no_grad():
        changed.encoder.final_norm.weight.div_(3)
    assert switched_off(experiment, whole, "feed_forward", 0)["loss"] == pytest.approx(before["feed_forward"])


@pytest.mark.slow
def test_what_is_left_out_does_not_learn(experiment: Experiment) -> None:
    whole: Any = experiment.train(0, validated=False).model
    frozen: Any = left_out(experiment, "classifier", 0).model
    bare: nn.Module = left_out(experiment, "norm", 0).model
    assert not any(isinstance(module, LayerNorm) for module in bare.modules())
    assert not frozen.head.output.weight.requires_grad and frozen.head.output.bias.eq(0).all()
    assert not whole.head.output.bias.eq(0).all()
    assert 0.5 <= majority(experiment) < 1.0
