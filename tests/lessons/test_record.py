from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from glassformer.errors import FileError
from glassformer.lessons.record import RECORDED, LessonResult, current, measure, own, recorded, rounded
from glassformer.lessons.setup import LessonSetup

NAME = "scaled_scores"


pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture(scope="module")
def result() -> LessonResult:
    return measure(NAME, LessonSetup(seeds=(0, 1)))


@pytest.mark.slow
def test_a_result_knows_where_it_comes_from(result: LessonResult) -> None:
    assert (result.name, result.command, result.seeds) == (NAME, f"glassformer lesson {NAME} --fresh", [0, 1])
    assert result.fingerprint == current(NAME) and not result.stale
    assert result.versions["torch"] == torch.__version__ and result.machine["cores"] >= 1
    assert set(result.verdicts()) == {"scale-variance"}


@pytest.mark.slow
def test_code_that_is_edited_meanwhile_leaves_a_stale_result(monkeypatch: pytest.MonkeyPatch) -> None:
    marks = iter(("before", "after"))
    monkeypatch.setattr("glassformer.lessons.record.current", lambda name: next(marks))
    assert measure(NAME, LessonSetup(seeds=(0,))).stale


@pytest.mark.slow
def test_measuring_leaves_the_threads_as_they_were() -> None:
    before = torch.get_num_threads()
    measure(NAME, LessonSetup(seeds=(0,)))
    assert torch.get_num_threads() == before


def test_what_is_written_is_read_again(result: LessonResult, tmp_path: Path) -> None:
    path = result.write(tmp_path / "new")
    assert LessonResult.read(path) == result
    assert [file.name for file in path.parent.iterdir()] == [f"{NAME}.json"]


def test_a_folder_that_cannot_be_written_is_one_line(result: LessonResult, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FileError, match=r"file.* cannot be written"):
        result.write(tmp_path / "file")


def test_an_own_result_of_this_code_comes_first(result: LessonResult) -> None:
    assert recorded(NAME) == LessonResult.read(RECORDED / f"{NAME}.json")
    result.write(own())
    assert recorded(NAME) == result


def test_an_own_result_of_other_code_does_not(result: LessonResult) -> None:
    replace(result, fingerprint="another").write(own())
    assert recorded(NAME) == LessonResult.read(RECORDED / f"{NAME}.json")


def test_a_file_that_is_no_result_is_passed_over(result: LessonResult) -> None:
    own().mkdir(parents=True)
    for text in ("half a li", json.dumps({"name": NAME}), "[]"):
        (own() / f"{NAME}.json").write_text(text)
        assert recorded(NAME) == LessonResult.read(RECORDED / f"{NAME}.json")


def test_numbers_have_seven_digits_and_only_json_is_data() -> None:
    data = {"a": (1 / 3, math.inf, None), "b": [{"c": True, "d": "x", 3: 12345678.9}]}
    assert rounded(data) == {"a": [0.3333333, None, None], "b": [{"c": True, "d": "x", "3": 12345680.0}]}
    with pytest.raises(TypeError, match="a lesson's data is JSON, not Tensor"):
        rounded({"a": torch.zeros(1)})
