from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from glassformer.lessons import batch
from glassformer.lessons.batch import Began, Done, Failed, Happening, Journal, Moved, WorkerJob, jobs, measure_all
from glassformer.lessons.record import RECORDED, LessonResult, current

NAME = "scaled_scores"


pytestmark = pytest.mark.usefixtures("own_cache")


def measured(folder: Path, workers: int = 1) -> Iterator[Happening]:
    return measure_all([NAME], folder, workers, Journal([NAME], folder))


@pytest.mark.slow
def test_a_lesson_in_a_process_of_its_own(tmp_path: Path) -> None:
    events = list(measured(tmp_path, workers=3))
    job = WorkerJob("lesson", NAME)
    assert events[0] == Began(job)
    assert isinstance(events[1], Moved) and events[1].what == "d_k"
    last = events[-1]
    assert isinstance(last, Done) and last.result == LessonResult.read(tmp_path / f"{NAME}.json")
    assert last.result.fingerprint == current(NAME) and not Journal([NAME], tmp_path).path.exists()


@pytest.mark.slow
def test_a_lesson_that_fails_stops_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "jobs", lambda names: [WorkerJob("lesson", "no_such_lesson"), WorkerJob("lesson", NAME)])
    events = list(measured(tmp_path))
    failed = [event for event in events if isinstance(event, Failed)]
    assert [event.job.name for event in failed] == ["no_such_lesson"]
    assert failed[0].why.startswith("there is no lesson 'no_such_lesson'")
    assert isinstance(events[-1], Done)
    assert list(Journal([NAME], tmp_path).results()) == [NAME]  # not closed: the same command goes on with the rest


def test_a_process_that_cannot_start_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    events = list(measured(tmp_path))
    assert isinstance(events[-1], Failed) and "FileNotFoundError" in events[-1].why


def test_whoever_stops_listening_stops_the_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []
    real = batch.subprocess.Popen

    def popen(*arguments: Any, **options: Any) -> Any:
        started.append(real(*arguments, **options))
        return started[-1]

    monkeypatch.setattr(batch.subprocess, "Popen", popen)
    happening = measured(tmp_path)
    next(happening)
    while not started:
        time.sleep(0.01)
    happening.close()  # type: ignore[attr-defined]
    assert started[0].wait(timeout=30) != 0
    assert not (tmp_path / f"{NAME}.json").exists()


def test_models_come_first_and_the_longest_before_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    class Known:
        def __init__(self, *runs: str, models: tuple[str, ...] = ()) -> None:
            self.runs, self.models = runs, models

    lessons = {"short": Known("digits"), "long": Known("ko-en", "digits"), "new": Known(models=("prices", "fill"))}
    seconds = {"short": 1.0, "long": 100.0}
    monkeypatch.setattr(batch, "lesson", lessons.__getitem__)
    monkeypatch.setattr(batch, "is_trained", lambda recipe: recipe == "ko-en")
    monkeypatch.setattr(batch, "_seconds", lambda name: seconds.get(name, batch.UNKNOWN))
    assert [(job.kind, job.name) for job in jobs(list(lessons))] == [
        ("model", "digits"),
        ("model", "fill"),  # the prices come with the package
        ("lesson", "long"),
        ("lesson", "new"),
        ("lesson", "short"),
    ]


# --- what is done so far ---


@pytest.fixture
def result(tmp_path: Path) -> LessonResult:
    found = replace(LessonResult.read(RECORDED / f"{NAME}.json"), fingerprint=current(NAME))
    found.write(tmp_path / "results")
    return found


def test_what_is_noted_is_found_again(result: LessonResult, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    journal = Journal([NAME, "other"], folder)
    assert journal.results() == {}
    journal.note(result)
    assert Journal(["other", NAME], folder).results() == {NAME: result}


@pytest.mark.slow
def test_what_was_interrupted_goes_on(result: LessonResult, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    journal = Journal([NAME], folder)
    journal.note(result)
    assert list(measured(folder)) == [Done(WorkerJob("lesson", NAME), result)]
    assert not journal.path.exists()


def test_another_measuring_has_another_journal(result: LessonResult, tmp_path: Path) -> None:
    Journal([NAME, "other"], tmp_path / "results").note(result)
    assert Journal([NAME], tmp_path / "results").results() == {}
    assert Journal([NAME, "other"], tmp_path / "elsewhere").results() == {}


def test_what_other_code_has_done_does_not_count(result: LessonResult, tmp_path: Path) -> None:
    journal = Journal([NAME], tmp_path / "results")
    journal.note(replace(result, fingerprint="another"))
    assert Journal([NAME], tmp_path / "results").results() == {}


def test_a_result_that_is_gone_does_not_count(result: LessonResult, tmp_path: Path) -> None:
    journal = Journal([NAME], tmp_path / "results")
    journal.note(result)
    (tmp_path / "results" / f"{NAME}.json").unlink()
    assert journal.results() == {}


@pytest.mark.parametrize("text", ["{half", "[]", "{}"])
def test_a_result_that_cannot_be_read_does_not_count(result: LessonResult, tmp_path: Path, text: str) -> None:
    journal = Journal([NAME], tmp_path / "results")
    journal.note(result)
    (tmp_path / "results" / f"{NAME}.json").write_text(text)
    assert journal.results() == {}


def test_a_result_of_other_code_in_its_place_does_not_count(result: LessonResult, tmp_path: Path) -> None:
    journal = Journal([NAME], tmp_path / "results")
    journal.note(result)
    replace(result, fingerprint="another").write(tmp_path / "results")
    assert journal.results() == {}


def test_a_journal_that_is_closed_or_damaged_is_empty(result: LessonResult, tmp_path: Path) -> None:
    journal = Journal([NAME], tmp_path / "results")
    journal.note(result)
    journal.path.write_text("{half")
    assert Journal([NAME], tmp_path / "results").results() == {}
    journal.note(result)
    journal.close()
    journal.close()
    assert Journal([NAME], tmp_path / "results").results() == {}
