from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from glassformer.lessons.position import word_order
from glassformer.lessons.position.word_order import (
    CAT,
    MOUSE,
    TOLERANCE,
    make,
    run,
    shuffled,
    vector_distance,
    verdicts,
)
from glassformer.lessons.setup import LessonSetup


def found(encoder: float, decoder: float) -> dict[str, Any]:
    def case(value: float) -> dict[str, Any]:
        return {kind: {"values": [value], "mean": value} for kind in ("shuffled", "sentences")}

    cases = {"encoder_none": case(encoder), "decoder_none": case(decoder), "encoder_sinusoidal": case(0.5)}
    return {"tolerance": TOLERANCE, "cases": cases}


def test_the_rule() -> None:
    assert verdicts(found(1e-15, 1e-15))["order-lost"].verdict == "confirmed"
    assert verdicts(found(1e-15, 0.1))["order-lost"].verdict == "depends"
    assert verdicts(found(0.1, 0.1))["order-lost"].verdict == "refuted"


def test_both_sentences_are_the_same_bag() -> None:
    assert sorted(CAT) == sorted(MOUSE) and CAT != MOUSE


def test_what_is_measured_changes_with_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(LessonSetup(seeds=(0,)))["cases"]["encoder_none"]["sentences"]["mean"] < TOLERANCE

    def placed(family: str, position: str, seed: int) -> nn.Module:
        return make(family, "learned", seed)

    monkeypatch.setattr(word_order, "make", placed)
    assert run(LessonSetup(seeds=(0,)))["cases"]["encoder_none"]["sentences"]["mean"] > 0.001


@pytest.mark.parametrize("position", ["sinusoidal", "learned", "rotary", "alibi", "relative"])
def test_every_kind_of_position_brings_the_order_back(position: str) -> None:
    model = make("encoder", position, 0)
    assert shuffled(model, 0) > 1e-3 and vector_distance(model, "encoder") > 1e-6


def test_one_causal_layer_leaves_the_last_word_a_bag(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_order, "LAYERS", 1)
    torch.manual_seed(0)
    assert vector_distance(make("decoder", "none", 0), "decoder") < TOLERANCE
