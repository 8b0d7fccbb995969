from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from glassformer.data.documents import read_documents
from glassformer.data.own import possible_tasks
from glassformer.data.pairs import read_pairs
from glassformer.data.parquet import AT_ONCE, parquet_objects
from glassformer.data.table import Form
from glassformer.data.texts import read_texts
from glassformer.errors import ConfigError, FileError


def write(folder: Path, columns: dict[str, list[Any]], name: str = "rows.parquet") -> Path:
    """A Parquet file of these columns."""
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table(columns), folder / name, row_group_size=1000)
    return folder / name


def test_pairs_by_the_names_of_the_columns(tmp_path: Path) -> None:
    path = write(tmp_path, {"id": [1, 2, 3], "ko": ["가", "", "다"], "en": ["a", "b", None]})
    pairs = read_pairs(path)
    assert (list(pairs), pairs.skipped) == ([("가", "a")], (2, 3))
    assert list(read_pairs(path, Form(columns=["en", "ko"]))) == [("a", "가")]
    assert list(read_pairs(path, Form(columns=[3, 2]))) == [("a", "가")]


def test_columns_inside_another_as_published_corpora_have_them(tmp_path: Path) -> None:
    path = write(tmp_path, {"translation": [{"de": "eins", "en": "one"}, {"de": "zwei", "en": "two"}]})
    assert list(read_pairs(path)) == [("eins", "one"), ("zwei", "two")]
    assert list(read_pairs(path, Form(columns=["translation.en", "translation.de"]))) == [
        ("one", "eins"),
        ("two", "zwei"),
    ]


def test_more_rows_than_are_read_at_once_in_their_order_and_in_nfc(tmp_path: Path) -> None:
    count = AT_ONCE + 10
    path = write(tmp_path, {"text": [f"\u1112\u1161\u11ab {i}" for i in range(count)]})
    assert read_documents(path).texts == [f"한 {i}" for i in range(count)]


def test_labels_may_be_numbers(tmp_path: Path) -> None:
    path = write(tmp_path, {"text": ["a", "b"], "label": [0, 1], "score": [0.5, 0.1]})
    found = read_texts(path)
    assert (found.texts, found.labels) == (["a", "b"], ["0", "1"])


def test_the_task_is_judged_as_for_other_files(tmp_path: Path) -> None:
    assert possible_tasks(write(tmp_path, {"ko": ["가"], "en": ["a"]})) == ("translation",)
    assert possible_tasks(write(tmp_path, {"text": ["가"]})) == ("language_model",)
    assert possible_tasks(write(tmp_path, {"review": ["가"], "label": [1]})) == ("classification",)


def test_a_value_that_is_no_text_is_named_by_its_row(tmp_path: Path) -> None:
    path = write(tmp_path, {"source": [1, 2], "target": ["a", "b"]})
    with pytest.raises(FileError, match=r"line 1 has 1 under 'source'; use a text in quotes"):
        read_pairs(path)


def test_a_column_that_is_not_there_and_a_file_without_rows_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, {"text": ["a"]})
    with pytest.raises(FileError, match=r"has no key 'body'; there are: text"):
        read_documents(path, column="body")
    with pytest.raises(FileError, match="is empty; give a file"):
        next(parquet_objects(write(tmp_path, {"text": []})))


@pytest.mark.parametrize("content", [b"", b"PAR1", b"no parquet at all " * 20], ids=["empty", "cut", "other"])
def test_a_damaged_file_is_one_line(content: bytes, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "x.parquet"
    path.write_bytes(content)
    with pytest.raises(FileError, match=r"x\.parquet is damaged or not packed as its name says"):
        read_pairs(path)
    with pytest.raises(FileError, match=r"none\.parquet"):
        read_pairs(tmp_path / "none.parquet")


def test_without_the_package_it_is_said_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "x.parquet").write_bytes(b"PAR1")
    with pytest.raises(
        ConfigError, match=r"x\.parquet needs a package that is not installed; pip install 'glassformer"
    ):
        read_pairs(tmp_path / "x.parquet")
