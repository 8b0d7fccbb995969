from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from glassformer.lessons.journal import Journal
from glassformer.lessons.record import RECORDED, LessonResult, current

NAME = "scaled_scores"


pytestmark = pytest.mark.usefixtures("own_cache")


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
