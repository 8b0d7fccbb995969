from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from glassformer.cli.measuring import Bars
from glassformer.lessons import measuring
from glassformer.lessons.batch import Began, Done, Failed, Moved, WorkerJob
from glassformer.lessons.measuring import with_lessons
from glassformer.lessons.record import RECORDED, LessonResult

NAME = "scaled_scores"


pytestmark = pytest.mark.usefixtures("own_cache")


def happening(*events: Any) -> Any:
    def measure_all(*_: Any) -> Iterator[Any]:
        for event in events:
            if isinstance(event, type):
                raise event
            yield event

    return measure_all


def test_lessons_models_and_failures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    job, model, bad = WorkerJob("lesson", NAME), WorkerJob("model", "digits"), WorkerJob("lesson", "bad")
    result = LessonResult.read(RECORDED / f"{NAME}.json")
    events = [Began(model), Moved(model, "digits", 0.5), Done(model, None), Began(bad), Failed(bad, "no room")]
    monkeypatch.setattr(measuring, "measure_all", happening(*events, Began(job), Done(job, result)))
    found, failed = with_lessons([NAME, "bad"], fresh=True, folder=tmp_path, workers=2, audience=Bars(quiet=False))
    assert (found.result(NAME), failed) == (result, {"bad"})
    err = capsys.readouterr().err
    assert "bad: not measured (no room)" in err and f"1 of 2: scaled_scores, {result.seconds:g} s" in err


def test_somebody_stops_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    result = LessonResult.read(RECORDED / f"{NAME}.json")
    monkeypatch.setattr(measuring, "measure_all", happening(Done(WorkerJob("lesson", NAME), result), KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        with_lessons([NAME, "other"], fresh=True, folder=tmp_path, workers=1, audience=Bars(quiet=False))
    assert "stopped after 1 of 2 lessons; the same command goes on from there" in capsys.readouterr().err


def test_one_lesson_is_watched(capsys: pytest.CaptureFixture[str]) -> None:
    with Bars(quiet=False).lesson("A title") as watch:
        watch("d_k", 0.5)
    assert capsys.readouterr().err == "measuring: A title …\n"
    with Bars(quiet=True).lesson("A title") as watch:
        watch("d_k", 0.5)
    assert capsys.readouterr().err == ""
