from __future__ import annotations

from typing import Any

import pytest

from glassformer.lessons.desk import Desk
from glassformer.lessons.training import label_smoothing
from glassformer.lessons.training.label_smoothing import run, soft_target, verdicts
from glassformer.losses import Sum

BELOW, AROUND, ABOVE = (-0.3, -0.1), (-0.1, 0.1), (0.1, 0.3)  # intervals of with − without


def judged(few: tuple[float, float], many: tuple[float, float], confidence: tuple[float, float] = BELOW) -> str:
    def effects(error: tuple[float, float]) -> dict[str, Any]:
        return {
            "error": {"mean": 0.0, "low": error[0], "high": error[1]},
            "confidence": {"mean": 0.0, "low": confidence[0], "high": confidence[1]},
        }

    seen = {name: {"mean": 0.5} for name in ("confidence", "error", "accuracy")}
    data = {
        "images": {"few": 100, "many": 1000},
        "sizes": {size: {"e0": seen, "e10": seen} for size in ("few", "many")},
        "effects": {"few": effects(few), "many": effects(many)},
    }
    return verdicts(data)["smoothing-calibrates"].verdict


def test_the_rule() -> None:
    assert judged(BELOW, BELOW) == "confirmed"
    assert judged(BELOW, ABOVE) == "depends"
    assert judged(AROUND, ABOVE) == "refuted"
    assert judged(BELOW, BELOW, confidence=AROUND) == "refuted"  # better calibrated, but not less sure


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
    data = run(Desk(seeds=(0, 1), effort=0.3))
    for size in ("few", "many"):
        assert data["sizes"][size]["e10"]["confidence"]["mean"] < data["sizes"][size]["e0"]["confidence"]["mean"]
        assert sum(one["count"] for one in data["sizes"][size]["e0"]["bins"]) == 2 * data["held_out"]
