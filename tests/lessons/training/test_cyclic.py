from __future__ import annotations

from typing import Any

import pytest
from torch import nn

from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.training.cyclic import between, run, verdicts
from glassformer.training.schedule import SCHEDULES, Span, constant
from lesson_models import tiny_result

LOWER, SAME, HIGHER = (-0.3, -0.1), (-0.1, 0.1), (0.1, 0.3)  # intervals of cyclic − other


def judged(cosine: tuple[float, float], flat: tuple[float, float]) -> str:
    def effect(ends: tuple[float, float]) -> dict[str, Any]:
        return {"mean": 0.0, "low": ends[0], "high": ends[1]}

    kinds = ("cyclic", "cosine", "constant")
    data = {
        "steps": 240,
        "best": dict.fromkeys(kinds, 0.001),
        "schedules": {kind: {"training": {"mean": 2.0}, "validation": {"mean": 2.0}} for kind in kinds},
        "effects": {"cosine": effect(cosine), "constant": effect(flat)},
        "barrier": effect(SAME),
    }
    return verdicts(data)["cyclic-escapes"].verdict


def test_the_rule() -> None:
    assert judged(LOWER, LOWER) == "confirmed"
    assert judged(HIGHER, LOWER) == "depends"
    assert judged(HIGHER, HIGHER) == "refuted"
    assert judged(SAME, HIGHER) == judged(SAME, LOWER) == "undecided"


def test_halfway_between_two_models() -> None:
    first, second = nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)
    first.weight.data.fill_(1.0)
    second.weight.data.fill_(3.0)
    (middle,) = between(first, second, 0.5).parameters()
    assert middle.item() == 2.0 and first.weight.item() == 1.0


@pytest.mark.slow
def test_what_is_measured_changes_with_the_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    setup = LessonSetup(seeds=(0, 1), effort=0.01)
    before = tiny_result("cyclic")
    assert before["effects"]["constant"]["mean"] != 0.0
    assert before["rates"]["cyclic"][0] == pytest.approx(0.1)  # the first rise is the warm-up
    for kind, seen in before["schedules"].items():
        assert seen["training"]["mean"] == min(one["mean"] for one in before["ends"][kind])

    def no_cycle(step: int, span: Span, *, low: float = 0.1, mode: str = "triangular") -> float:
        return constant(step, span)

    monkeypatch.setitem(SCHEDULES, "cyclic", no_cycle)
    assert run(setup)["effects"]["constant"]["mean"] == 0.0
