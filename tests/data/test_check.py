from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from glassformer.data.catalogue import DATASETS
from glassformer.data.check import check
from glassformer.data.dataset import Dataset, parallel

EN, KO = b"one\ntwo\n", "하나\n둘\n".encode()
ROW = Dataset(
    task="translation",
    format="parallel",
    languages=("en", "ko"),
    licence="MIT",
    source="https://example.org",
    splits={"test": parallel("two", ("en", "ko"), 2)},
    sha256={"two.en": sha256(EN).hexdigest(), "two.ko": sha256(KO).hexdigest()},
)


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("GLASSFORMER_DATA", str(tmp_path))
    monkeypatch.setitem(DATASETS, "two", ROW)
    monkeypatch.setitem(DATASETS, "unchecked", replace(ROW, folder="two", sha256={}, verified=False))
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "two.en").write_bytes(EN)
    (tmp_path / "two" / "two.ko").write_bytes(KO)
    return tmp_path / "two"


def test_good_files_have_no_problem(place: Path) -> None:
    found = check("two")
    assert [(each.file, each.path, each.lines, each.problem) for each in found] == [
        ("two.en", place / "two.en", 2, None),
        ("two.ko", place / "two.ko", 2, None),
    ]
    assert found[0].sha256 == sha256(EN).hexdigest()


def problem(name: str, file: str) -> str:
    return str(next(each.problem for each in check(name) if each.file == file))


def test_an_altered_file_is_found_by_its_checksum(place: Path) -> None:
    (place / "two.en").write_bytes(b"one\ntoo\n")
    expected, found = sha256(EN).hexdigest(), sha256(b"one\ntoo\n").hexdigest()
    assert f"is not the published file of two: SHA-256 {found} instead of {expected}" in problem("two", "two.en")
    assert problem("two", "two.ko") == "None"


def test_without_a_checksum_lines_are_counted_and_text_is_checked(place: Path) -> None:
    (place / "two.en").write_bytes(b"one\n")
    (place / "two.ko").write_bytes(b"one\n\xff\n")
    assert "two.en has 1 lines, unchecked has 2; put the published file there" in problem("unchecked", "two.en")
    assert "not UTF-8 in line 2" in problem("unchecked", "two.ko")


def test_a_missing_file_is_a_problem_of_its_own(place: Path) -> None:
    (place / "two.ko").unlink()
    assert "two is not here: two.ko is missing" in problem("two", "two.ko")
    assert problem("two", "two.en") == "None"
