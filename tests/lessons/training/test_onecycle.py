from __future__ import annotations

import pytest

from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.training.onecycle import run
from glassformer.training.schedule import SCHEDULES, Span, linear


def test_ours_is_torchs_and_the_momentum_goes_against_it() -> None:
    data = run(LessonSetup())
    assert data["difference"] < 1e-12
    assert data["peak_step"] == data["momentum_low_step"] == data["warmup"]
    assert data["momentum_high"] == pytest.approx(0.95) and data["momentum_low"] == pytest.approx(0.85)
    assert data["first"] == pytest.approx(data["peak"] / 25) and data["last"] == pytest.approx(data["peak"] / 25e4)


def test_another_schedule_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    def straight(step: int, span: Span, *, start: float = 25.0, final: float = 1e4) -> float:
        return linear(step, span)

    monkeypatch.setitem(SCHEDULES, "one_cycle", straight)
    assert run(LessonSetup())["difference"] > 0.01
