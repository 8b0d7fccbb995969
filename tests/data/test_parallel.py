from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from glassformer.data.parallel import parallel_rows, read_parallel
from glassformer.errors import FileError


def write(folder: Path, source: str, target: str) -> tuple[Path, Path]:
    paths = folder / "train.ko", folder / "train.en"
    for path, text in zip(paths, (source, target), strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


def test_line_n_goes_with_line_n(tmp_path: Path) -> None:
    pairs = read_parallel(*write(tmp_path, "나는 간다\n너는 온다\n", "I go\nyou come\n"))
    assert list(pairs) == [("나는 간다", "I go"), ("너는 온다", "you come")]
    assert pairs.skipped == ()


def test_one_side_may_be_packed(tmp_path: Path) -> None:
    source, target = write(tmp_path, "a\n", "b\n")
    packed = tmp_path / "train.en.gz"
    packed.write_bytes(gzip.compress(target.read_bytes()))
    assert list(read_parallel(source, packed)) == [("a", "b")]


@pytest.mark.parametrize(("source", "target"), [(3, 2), (2, 3), (5, 1), (1, 5)])
def test_different_counts_are_refused_with_both_named(source: int, target: int, tmp_path: Path) -> None:
    paths = write(tmp_path, "a\n" * source, "b\n" * target)
    with pytest.raises(FileError, match=rf"train\.ko has {source} lines, .*train\.en has {target}; line N") as failure:
        read_parallel(*paths)
    assert f"train.ko {source}줄" in failure.value.in_language("ko")


@pytest.mark.parametrize(("source", "target", "name"), [("", "b\n", "ko"), ("a\n", "", "en"), ("", "", "ko")])
def test_an_empty_file_is_refused_by_name(source: str, target: str, name: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=rf"train\.{name} is empty; give a file"):
        read_parallel(*write(tmp_path, source, target))


def test_empty_lines_are_left_out_together_and_counted(tmp_path: Path) -> None:
    pairs = read_parallel(*write(tmp_path, "a\n\nc\nd\n", "1\n2\n\n4\n"))
    assert (list(pairs), pairs.skipped) == ([("a", "1"), ("d", "4")], (2, 3))


def test_rows_come_one_by_one(tmp_path: Path) -> None:
    rows = parallel_rows(*write(tmp_path, "a\nb\n", "1\n"))
    assert next(rows) == ("a", "1")
    with pytest.raises(FileError, match="has 2 lines"):
        next(rows)
