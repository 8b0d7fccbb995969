from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from glassformer.lessons import measuring
from glassformer.lessons.batch import Done, Failed, Happening, WorkerJob
from glassformer.lessons.catalogue import LESSONS
from glassformer.lessons.record import RECORDED, LessonResult
from glassformer.lessons.verdict import WORDS
from typed import typed

CLAIM, NAME = "scale-variance", "scaled_scores"


pytestmark = pytest.mark.usefixtures("own_cache")


run = typed("claims")


def failing(names: list[str], *_: Any) -> Iterator[Happening]:
    yield from (Failed(WorkerJob("lesson", name), "no room") for name in names)


@pytest.mark.slow
def test_one_claim_as_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, CLAIM)
    assert (code, err) == (0, "") and "✓ confirmed" in out
    assert "1 claims: 1 confirmed, 0 refuted, 0 depend on a condition, 0 are undecided." in out


def test_the_document_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, CLAIM, "--json", "--lang", "ko")
    (found,) = json.loads(out)
    assert (code, err) == (0, "")
    assert {"id", "claim", "verdict", "measured", "condition", "command"} <= set(found)
    assert (found["id"], found["verdict"], found["condition"]) == (CLAIM, "confirmed", None)
    assert found["measured"]["d_k"] == 512
    assert found["measured"]["interval_scaled"]["low"] < 1.1 and found["sides"]["64"]["verdict"] == "confirmed"


@pytest.mark.slow
def test_a_sentence_that_was_split_is_still_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "parts-that-matter", "--json")
    assert code == 0
    found = json.loads(out)
    assert [one["id"] for one in found] == ["ffn-matters", "norm-matters", "classifier-matters"]
    for one in found:
        assert one["verdict"] in WORDS and (one["condition"] is None) == (one["verdict"] != "depends")


@pytest.mark.slow
def test_all_verdicts_are_one_of_four_words(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--json")
    found = json.loads(out)
    assert code == 0 and len(found) == len({one["id"] for one in found}) >= 56
    assert {one["verdict"] for one in found} <= set(WORDS)
    assert all((one["condition"] is not None) == (one["verdict"] == "depends") for one in found)


def test_a_stale_result_is_marked(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    old = replace(LessonResult.read(RECORDED / f"{NAME}.json"), fingerprint="another")
    monkeypatch.setattr("glassformer.lessons.lesson_results.recorded", lambda name: old)
    code, out, _ = run(capsys, CLAIM)
    assert code == 0 and "stale" in out and "1 are stale" in out


@pytest.mark.slow
def test_measured_again_into_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, CLAIM, "--fresh", "--workers", 1, "--record", tmp_path / "results")
    assert code == 0 and "1 of 1: scaled_scores" in err and "confirmed" in out
    assert [path.name for path in (tmp_path / "results").iterdir()] == [f"{NAME}.json"]


def test_an_old_number_does_not_stand_for_a_measurement_that_failed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measuring, "measure_all", failing)
    code, out, _ = run(capsys, CLAIM, "--fresh", "--json")
    assert (code, json.loads(out)) == (1, [])


def test_what_is_missing_is_measured(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    result = LessonResult.read(RECORDED / f"{NAME}.json")
    asked: list[list[str]] = []

    def measure_all(names: list[str], *_: Any) -> Iterator[Happening]:
        asked.append(names)
        yield Done(WorkerJob("lesson", NAME), result)

    monkeypatch.setattr("glassformer.lessons.lesson_results.recorded", lambda name: None)
    monkeypatch.setattr(measuring, "measure_all", measure_all)
    code, out, _ = run(capsys, CLAIM)
    assert (code, asked) == (0, [[NAME]]) and "confirmed" in out


def test_all_lessons_are_measured_again_and_a_failure_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []

    def measure_all(names: list[str], *_: Any) -> Iterator[Happening]:
        asked.append(names)
        yield from (Failed(WorkerJob("lesson", name), "no room") for name in names)

    monkeypatch.setattr(measuring, "measure_all", measure_all)
    code, _, _ = run(capsys, "--fresh", "--json")
    assert (code, asked) == (1, [list(LESSONS)])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["scale"], "there is no claim 'scale'"), ([CLAIM, "--workers", "0"], "--workers=0 is out of range")],
)
def test_wrong_use(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "") and message in err and err.count("\n") == 1
