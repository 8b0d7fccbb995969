from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest

from glassformer.errors import FileError
from glassformer.lessons import record, trained_models, worker
from glassformer.lessons.record import LessonResult
from glassformer.lessons.worker import Teller, main

NAME = "scaled_scores"


@pytest.mark.slow
def test_a_lesson_is_measured_into_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lesson", NAME, str(tmp_path / "results")]) == 0
    assert LessonResult.read(tmp_path / "results" / f"{NAME}.json").seeds == [0, 1, 2, 3, 4]
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines[-1] == {"what": "d_k", "share": 1.0}


def test_a_model_is_trained(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[str] = []
    monkeypatch.setattr(trained_models, "trained", lambda recipe, watch: asked.append(recipe))
    assert main(["model", "digits", str(tmp_path)]) == 0
    assert asked == ["digits"]


def test_what_goes_wrong_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("GLASSFORMER_LANG", "en")

    def fail(*_: object) -> LessonResult:
        raise FileError("not_a_run", path="somewhere")

    monkeypatch.setattr(record, "measure", fail)
    assert main(["lesson", NAME, "x"]) == 1
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt, BrokenPipeError])
def test_when_nobody_waits_any_more_it_ends(error: type[BaseException], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker.sys, "stdout", StringIO())

    def stop(*_: object) -> LessonResult:
        raise error

    monkeypatch.setattr(record, "measure", stop)
    assert main(["lesson", NAME, "x"]) == 1


def test_it_does_not_tell_too_often() -> None:
    stream = StringIO()
    tell = Teller(stream)
    for number in range(1000):
        tell("x", number / 1000)
    tell("x", 1.0)
    assert 2 <= len(stream.getvalue().splitlines()) < 100
