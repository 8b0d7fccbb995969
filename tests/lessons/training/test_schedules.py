from __future__ import annotations

import pytest

from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.training.schedules import run
from glassformer.training.schedule import SCHEDULES, Span


def test_every_schedule_of_the_package_is_shown() -> None:
    data = run(LessonSetup())
    assert list(data["kinds"]) == list(SCHEDULES)
    for kind in data["kinds"].values():
        assert len(kind["curve"]) == len(data["shown"]) <= 60 and max(kind["curve"]) <= 1.0


def test_noam_is_the_inverse_square_root_with_another_height() -> None:
    assert run(LessonSetup())["noam_inverse_sqrt"] < 1e-12


def test_the_areas_are_those_of_the_shapes() -> None:
    kinds = run(LessonSetup())["kinds"]
    assert kinds["constant"]["mean"] == pytest.approx(0.95, abs=0.01)  # 10 % of warm-up cost 5 %
    assert kinds["linear"]["mean"] == pytest.approx(0.50, abs=0.01)
    assert kinds["cyclic"]["mean"] == pytest.approx(0.55, abs=0.01)


def test_a_changed_schedule_changes_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    before = run(LessonSetup())["kinds"]["cosine"]["mean"]

    def flat(step: int, span: Span, *, floor: float = 0.0) -> float:
        return 1.0

    monkeypatch.setitem(SCHEDULES, "cosine", flat)
    assert run(LessonSetup())["kinds"]["cosine"]["mean"] == 1.0 != before
