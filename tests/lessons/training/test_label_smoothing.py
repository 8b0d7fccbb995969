from __future__ import annotations

from typing import Any

import pytest

from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.training import label_smoothing
from glassformer.lessons.training.label_smoothing import run, soft_target, verdicts
from glassformer.lessons.verdict import Verdict
from glassformer.losses import Sum

BELOW, AROUND, ABOVE = (-0.3, -0.1), (-0.1, 0.1), (0.1, 0.3)  # intervals of with − without
LESS, SAME = [-0.3, -0.2, -0.1], [-0.1, 0.0, 0.1]  # change of confidence − accuracy, by seed


def of(values: list[float]) -> dict[str, Any]:
    return {"mean": sum(values) / len(values), "values": values}


def judged(error: tuple[Any, Any], over: tuple[list[float], list[float]]) -> Verdict:
    """For few and for many images: the interval of the change of the ECE, and the changes of over-confidence."""

    def seen(changes: list[float]) -> dict[str, Any]:
        plain = {"confidence": of([0.9, 0.9, 0.9]), "accuracy": of([0.8, 0.7, 0.6]), "error": of([0.1])}
        confidence = [0.9 + change for change in changes]
        return {"e0": plain, "e10": {**plain, "confidence": of(confidence)}}

    sizes = ("few", "many")
    return verdicts(
        {
            "images": {"few": 100, "many": 1000},
            "sizes": {size: seen(one) for size, one in zip(sizes, over, strict=True)},
            "effects": {
                size: {"error": {"mean": 0.0, "low": low, "high": high}}
                for size, (low, high) in zip(sizes, error, strict=True)
            },
        }
    )["smoothing-calibrates"]


def test_the_rule() -> None:
    clear = [-0.21, -0.2, -0.19]
    assert judged((BELOW, BELOW), (clear, clear)).verdict == "confirmed"
    assert judged((BELOW, ABOVE), (clear, clear)).verdict == "depends"  # less over-confident, not better calibrated
    surer = [0.19, 0.2, 0.21]
    assert judged((BELOW, BELOW), (clear, surer)).verdict == "depends"  # better calibrated, but not less sure
    assert judged((BELOW, ABOVE), (clear, surer)).verdict == "refuted"  # each half at one size alone
    assert judged((AROUND, AROUND), (clear, clear)).verdict == "undecided"
    assert judged((BELOW, BELOW), (clear, SAME)).verdict == "undecided"
    assert judged((AROUND, ABOVE), (LESS, SAME)).verdict == "undecided"


def test_over_confidence_is_confidence_minus_accuracy_seed_by_seed() -> None:
    found = judged((BELOW, BELOW), (LESS, SAME)).measured["over_few"]
    assert found["plain"] == pytest.approx(0.2) and found["smoothed"] == pytest.approx(0.0)
    assert found["change"]["values"] == pytest.approx(LESS)  # accuracy drops out: it is the same with and without


def test_the_soft_target_is_that_of_the_formula() -> None:
    assert soft_target(0.1) == pytest.approx([0.01] * 3 + [0.91] + [0.01] * 6)
    assert soft_target(0.0) == pytest.approx([0.0] * 3 + [1.0] + [0.0] * 6)


def test_the_target_follows_the_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    def half(logits: Any, targets: Any, *, smoothing: float) -> Sum:
        wanted = 0.5 * logits.log_softmax(-1)[:, 3] + 0.5 * logits.log_softmax(-1)[:, 4]
        return Sum(-wanted.sum(), targets.new_tensor(1))

    monkeypatch.setattr(label_smoothing, "cross_entropy", half)
    assert soft_target(0.1) == pytest.approx([0.0] * 3 + [0.5, 0.5] + [0.0] * 5)


@pytest.mark.slow
def test_smoothing_makes_less_sure() -> None:
    data = run(LessonSetup(seeds=(0, 1), effort=0.3))
    for size in ("few", "many"):
        assert data["sizes"][size]["e10"]["confidence"]["mean"] < data["sizes"][size]["e0"]["confidence"]["mean"]
        assert sum(one["count"] for one in data["sizes"][size]["e0"]["bins"]) == 2 * data["held_out"]
