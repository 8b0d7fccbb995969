from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from glassformer.errors import GlassformerWarning
from glassformer.lessons import measuring
from glassformer.lessons.batch import Done, Failed, Happening, WorkerJob
from glassformer.lessons.measuring import cores, with_lesson, with_lessons
from glassformer.lessons.record import RECORDED, LessonResult, current, own

NAME = "scaled_scores"


pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture
def result() -> LessonResult:
    return replace(LessonResult.read(RECORDED / f"{NAME}.json"), fingerprint=current(NAME))


@pytest.fixture
def measured(result: LessonResult, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is measured, one by one; nothing takes any time."""
    asked: list[str] = []

    def measure(name: str, _: Any) -> LessonResult:
        asked.append(name)
        return result

    monkeypatch.setattr(measuring, "measure", measure)
    return asked


def test_a_result_of_the_code_as_it_is_is_not_measured_again(result: LessonResult, measured: list[str]) -> None:
    result.write(own())
    assert with_lesson(NAME).result(NAME) == result and measured == []


def test_what_is_asked_for_anew_is_measured_and_kept(result: LessonResult, measured: list[str]) -> None:
    assert with_lesson(NAME, fresh=True).result(NAME) == result and measured == [NAME]
    assert LessonResult.read(own() / f"{NAME}.json") == result


@pytest.mark.parametrize("known", [None, "of other code"])
def test_what_is_missing_or_stale_is_measured(
    known: str | None, result: LessonResult, measured: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = None if known is None else replace(result, fingerprint=known)
    monkeypatch.setattr("glassformer.lessons.lesson_results.recorded", lambda name: found)
    assert with_lesson(NAME).result(NAME) == result and measured == [NAME]


def test_several_lessons_and_what_failed(tmp_path: Path, result: LessonResult, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def measure_all(names: list[str], *_: Any) -> Iterator[Happening]:
        asked.append(names)
        yield Failed(WorkerJob("model", "digits"), "no room")
        yield Done(WorkerJob("lesson", NAME), result)

    monkeypatch.setattr(measuring, "measure_all", measure_all)
    assert with_lessons([NAME])[1] == set() and asked == []  # stale or not, there is a result
    with pytest.warns(GlassformerWarning, match=r"digits: not measured \(no room\)"):
        found, failed = with_lessons([NAME], fresh=True, folder=tmp_path)
    assert (found.result(NAME), failed, asked) == (result, {"digits"}, [[NAME]])


def test_there_is_a_core() -> None:
    assert cores() >= 1
