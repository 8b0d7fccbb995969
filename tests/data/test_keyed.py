from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from glassformer.data.keyed import is_keyed, keyed_objects, keyed_rows


@pytest.mark.parametrize("name", ["a.jsonl", "a.JSONL", "a.jsonl.gz", "a.jsonl.bz2", "a.jsonl.zst", "a.parquet"])
def test_files_whose_rows_have_keys(name: str) -> None:
    assert is_keyed(name)


@pytest.mark.parametrize("name", ["a.tsv", "a.json", "jsonl", "a.jsonl.txt"])
def test_other_files(name: str) -> None:
    assert not is_keyed(name)


def test_a_packed_file_of_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"a": "x", "b": "y"}\n\n{"a": "z", "b": ""}\n'))
    assert list(keyed_objects(path)) == [(1, {"a": "x", "b": "y"}), (3, {"a": "z", "b": ""})]
    assert list(keyed_rows(path, "a", "b")) == [("x", "y"), ("", ""), ("z", "")]
