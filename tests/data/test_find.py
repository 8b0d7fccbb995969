from __future__ import annotations

import re
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from glassformer.data.catalogue import DATASETS, Dataset, parallel
from glassformer.data.find import (
    MADE,
    at_hand,
    check_files,
    dataset,
    find,
    find_split,
    folder,
    home,
    locate_file,
    read_made,
    rows_here,
    slice_name,
    slices_here,
)
from glassformer.errors import FileError, InputError
from glassformer.files import write_json


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GLASSFORMER_DATA", str(tmp_path))


def put(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x")
    return path


def test_data_lie_where_the_environment_says_else_in_ones_own_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert home() == tmp_path
    monkeypatch.delenv("GLASSFORMER_DATA")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    assert home() == tmp_path / "share" / "glassformer"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert home() == tmp_path / ".local" / "share" / "glassformer"


@pytest.mark.parametrize("packing", ["", ".gz", ".xz"])
def test_a_file_is_found_however_it_is_packed(packing: str, tmp_path: Path) -> None:
    assert locate_file("multi30k", "val.en") is None
    path = put(tmp_path / "multi30k" / f"val.en{packing}")
    assert find("multi30k", "val.en") == path
    assert not at_hand("multi30k")


def test_two_sets_may_share_a_folder(tmp_path: Path) -> None:
    assert folder("korean-english-school") == tmp_path / "korean-english-news"
    for file in dataset("korean-english-school").files:
        put(tmp_path / "korean-english-news" / f"{file}.gz")
    assert at_hand("korean-english-school") and not at_hand("korean-english-news")


def test_a_missing_set_says_how_to_get_it() -> None:
    with pytest.raises(
        FileError, match=r"multi30k is not here: val\.en is missing in .*; fetch it: glassformer data get"
    ):
        find("multi30k", "val.en")
    with pytest.raises(FileError, match=r"wmt14-ende is not here.*fetch it: glassformer data get wmt14-ende"):
        find("wmt14-ende", "train.en")
    with pytest.raises(FileError, match=r"wmt14-ende-1000 is not here.*glassformer data get wmt14-ende-1000"):
        find("wmt14-ende-1000", "train.en")
    with pytest.raises(
        FileError, match=r"kor-eng-pydocs is not here.*cannot be fetched: make train\.tsv, dev\.tsv"
    ) as failure:
        find("kor-eng-pydocs", "train.tsv")
    assert "python-docs-ko" in str(failure.value) and "GLASSFORMER_DATA" in failure.value.in_language("ko")


def test_a_slice_has_the_rows_of_its_name_and_all_else_of_its_set() -> None:
    known, whole = dataset("wmt14-ende-1000"), dataset("wmt14-ende")
    assert (known.slice_of, known.splits["train"].rows, known.build) == ("wmt14-ende", 1000, None)
    assert known.splits["test"] == whole.splits["test"] and known.licence == whole.licence
    assert folder("wmt14-ende-1000") == home() / slice_name("wmt14-ende", 1000)
    assert rows_here("wmt14-ende-1000", "train") == 1000
    for name in ("wmt14-ende-0", "wmt14-ende-x", "wmt14-ende-1000-10", "nsmc-10"):
        with pytest.raises(InputError, match="no data set is called"):
            dataset(name)


def test_what_was_built_is_compared_with_its_record(tmp_path: Path) -> None:
    place = tmp_path / "wmt14-ende"
    put(place / "train.en").write_bytes(EN)
    assert read_made("wmt14-ende") == {} and rows_here("wmt14-ende", "train") == 4_508_785
    assert problem("wmt14-ende", "train.en") == "None"  # made by hand: nobody knows how many lines there should be
    record = {"files": {"train.en": {"sha256": sha256(EN).hexdigest(), "lines": 2}}}
    write_json(place / MADE, record)
    assert problem("wmt14-ende", "train.en") == "None" and rows_here("wmt14-ende", "train") == 2
    (place / "train.en").write_bytes(KO)
    assert re.search(
        r"train\.en is not what was built: SHA-256 .* remove it and build it again: glassformer data get wmt14-ende",
        problem("wmt14-ende", "train.en"),
    )
    for damage in (
        {"files": {"train.en": {}}},
        {"files": {"train.en": {"sha256": "x", "lines": "many"}}},
        {"files": [1]},
    ):
        write_json(place / MADE, damage)
        assert "built.json cannot be read as the record of wmt14-ende" in problem("wmt14-ende", "train.en")


def test_the_slices_at_hand_are_listed(tmp_path: Path) -> None:
    assert slices_here() == []
    for name in ("wmt14-ende-10", "wmt14-ende-9", "nothing-10"):
        for file in dataset("wmt14-ende").files:
            put(tmp_path / name / file)
    put(tmp_path / "wmt14-ende-8" / "train.en")
    assert slices_here() == ["wmt14-ende-10", "wmt14-ende-9"]


def test_unknown_names_and_splits_are_refused_with_those_there_are() -> None:
    with pytest.raises(InputError, match="no data set is called 'multi3k'; did you mean multi30k"):
        dataset("multi3k")
    with pytest.raises(InputError, match="nsmc has no part 'dev'; there are: train, test"):
        find_split("nsmc", "dev")


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
    found = check_files("two")
    assert [(each.file, each.path, each.lines, each.problem) for each in found] == [
        ("two.en", place / "two.en", 2, None),
        ("two.ko", place / "two.ko", 2, None),
    ]
    assert found[0].sha256 == sha256(EN).hexdigest()


def problem(name: str, file: str) -> str:
    return str(next(each.problem for each in check_files(name) if each.file == file))


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
