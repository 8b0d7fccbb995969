from __future__ import annotations

import math
from typing import Any

import pytest

from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.training.warmup import jumps, run, verdicts
from glassformer.training.schedule import SCHEDULES, Span
from lesson_models import tiny_result

HELPS, NOTHING, HARMS = (-0.3, -0.1), (-0.1, 0.1), (0.1, 0.3)  # intervals of with − without


def judged(*sides: tuple[float, float]) -> str:
    effects: dict[str, Any] = {}
    places = [(order, name) for order in ("post", "pre") for name in ("loss", "jumps")]
    for (order, name), (low, high) in zip(places, sides, strict=True):
        effects.setdefault(order, {})[name] = {"mean": 0.0, "low": low, "high": high}
    seen = {"loss": {"mean": 2.0}, "jumps": {"mean": 0.1}}
    orders = {order: {"0": seen, "30": seen} for order in ("post", "pre")}
    data = {"steps": 120, "judged": 30, "orders": orders, "effects": effects}
    return verdicts(data)["warmup-stabilises"].verdict


def test_the_rule() -> None:
    assert judged(HELPS, HELPS, HELPS, HELPS) == "confirmed"
    assert judged(HELPS, HARMS, NOTHING, NOTHING) == "depends"
    assert judged(HARMS, HARMS, HARMS, HARMS) == "refuted"
    assert judged(HELPS, NOTHING, NOTHING, NOTHING) == judged(NOTHING, NOTHING, NOTHING, NOTHING) == "undecided"


def test_jumps_are_factors_between_neighbouring_steps() -> None:
    assert jumps([1.0, 2.0, 1.0, 2.0]) == pytest.approx(math.log(2))
    assert jumps([3.0, 3.0, 3.0]) == 0.0
    assert math.isnan(jumps([1.0, math.nan, 1.0]))


@pytest.mark.slow
def test_if_the_schedule_knew_no_warm_up_nothing_would_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    setup = LessonSetup(seeds=(0, 1), effort=0.01)
    before = tiny_result("warmup")["effects"]["post"]["loss"]["mean"]

    def flat(step: int, span: Span) -> float:
        return 1.0

    monkeypatch.setitem(SCHEDULES, "constant", flat)
    assert run(setup)["effects"]["post"]["loss"]["mean"] == 0.0 != before
