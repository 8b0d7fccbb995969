from __future__ import annotations

import pytest

from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.training.noam_schedule import run
from glassformer.training.schedule import SCHEDULES, Span, noam


@pytest.mark.slow
def test_the_peak_lies_at_the_warm_up_and_is_as_high_as_the_formula() -> None:
    data = run(LessonSetup())
    assert data["late"] == 0 and data["error"] < 1e-12
    paper = data["paper"]
    assert (paper["warmup"], paper["d_model"]) == (4000, 512)
    assert paper["rate"] == pytest.approx((512 * 4000) ** -0.5)
    assert paper["half"] == 4 * 4000 + 1  # at four times the warm-up it is exactly the half


@pytest.mark.slow
def test_a_changed_formula_changes_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(step: int, span: Span, *, factor: float) -> float:
        return noam(step, Span(2 * span.warmup, span.steps, span.d_model), factor=factor)

    monkeypatch.setitem(SCHEDULES, "noam", late)
    data = run(LessonSetup())
    assert data["paper"]["step"] == 8000 and data["error"] > 0.1
