from __future__ import annotations

from typing import Any

import pytest

from glassformer.lessons.desk import Desk
from glassformer.lessons.training.cyclic import run, verdicts
from glassformer.train.schedule import SCHEDULES, Span, constant

LOWER, SAME, HIGHER = (-0.3, -0.1), (-0.1, 0.1), (0.1, 0.3)  # intervals of cyclic − other


def judged(cosine: tuple[float, float], flat: tuple[float, float]) -> str:
    def effect(ends: tuple[float, float]) -> dict[str, Any]:
        return {"training": {"mean": 0.0, "low": ends[0], "high": ends[1]}}

    seen = {"training": {"mean": 2.0}, "validation": {"mean": 2.0}}
    data = {
        "steps": 240,
        "schedules": dict.fromkeys(("cyclic", "cosine", "constant"), seen),
        "effects": {"cosine": effect(cosine), "constant": effect(flat)},
    }
    return verdicts(data)["cyclic-escapes"].verdict


def test_the_rule() -> None:
    assert judged(LOWER, LOWER) == "confirmed"
    assert judged(HIGHER, LOWER) == "depends"
    assert judged(SAME, HIGHER) == "refuted"


@pytest.mark.slow
def test_what_is_measured_changes_with_the_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(seeds=(0, 1), effort=0.05)
    before = run(desk)
    assert before["effects"]["constant"]["training"]["mean"] != 0.0
    assert before["rates"]["cyclic"][0] == pytest.approx(0.1 * before["peak"])  # the first rise is the warm-up

    def no_cycle(step: int, span: Span, *, low: float = 0.1, mode: str = "triangular") -> float:
        return constant(step, span)

    monkeypatch.setitem(SCHEDULES, "cyclic", no_cycle)
    assert run(desk)["effects"]["constant"]["training"]["mean"] == 0.0
