from __future__ import annotations

import json
from pathlib import Path

import pytest

from glassformer.errors import FileError
from glassformer.files import (
    copy_file,
    read_json,
    remove_folder,
    remove_leftovers,
    write_json,
    write_parts,
    write_piece,
    write_text,
)
from small_disk import no_file_larger_than


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "status.json"
    write_json(path, {"step": 1, "name": "한"})
    write_json(path, {"step": 2}, durable=False)
    assert read_json(path) == {"step": 2}
    assert [path.name for path in tmp_path.iterdir()] == ["status.json"]


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "log"
    write_text(path, "old")
    with no_file_larger_than(1000), pytest.raises(FileError, match="log cannot be written: File too large; make room"):
        write_text(path, "x" * 5000)
    assert path.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["log"]


def test_a_folder_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be written: No such file or directory"):
        write_text(tmp_path / "none" / "file", "x")


def test_a_large_file_is_written_part_by_part_and_whole(tmp_path: Path) -> None:
    path = tmp_path / "large"
    write_parts(path, (bytes([i]) * 10 for i in range(3)))
    assert path.read_bytes() == b"\0" * 10 + b"\1" * 10 + b"\2" * 10
    with no_file_larger_than(1000), pytest.raises(FileError, match="large cannot be written: File too large"):
        write_parts(path, (bytes(400) for _ in range(9)))
    assert [path.name for path in tmp_path.iterdir()] == ["large"]
    assert path.stat().st_size == 30


def test_json_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    with pytest.raises(FileError, match=r"x\.json cannot be read: No such file"):
        read_json(path)
    for content in (b"{", b"\xff\xfe", b"[" * 100_000):
        path.write_bytes(content)
        with pytest.raises(FileError, match=r"x\.json is not JSON; it was damaged"):
            read_json(path)


def test_a_folder_is_removed_under_another_name(tmp_path: Path) -> None:
    for name in ("step-1", ".tmp-gone-step-1"):  # the second: left by a process that was killed while removing
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(json.dumps(name))
    remove_folder(tmp_path / "step-1")
    assert list(tmp_path.iterdir()) == []


def test_leftovers_are_removed_and_named(tmp_path: Path) -> None:
    (tmp_path / ".tmp-step-2").mkdir()
    (tmp_path / ".tmp-step-2" / "file").write_text("x")
    (tmp_path / ".tmp-log").write_text("x")
    (tmp_path / "step-1").mkdir()
    assert remove_leftovers(tmp_path) == [".tmp-log", ".tmp-step-2"]
    assert [path.name for path in tmp_path.iterdir()] == ["step-1"]


def test_a_copy_is_whole_or_not_there(tmp_path: Path) -> None:
    source, path = tmp_path / "a", tmp_path / "b"
    source.write_bytes(b"x" * 100_000)
    copy_file(source, path)
    assert path.read_bytes() == source.read_bytes()
    path.unlink()
    with no_file_larger_than(50_000), pytest.raises(FileError, match=r"b cannot be written: File too large"):
        copy_file(source, path)
    assert [each.name for each in tmp_path.iterdir()] == ["a"]


def test_a_piece_is_written_whole_or_fails(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with path.open("wb", buffering=0) as file:
        write_piece(file, b"x" * 100_000)
        write_piece(file, b"")
    assert path.stat().st_size == 100_000
    with no_file_larger_than(150_000), path.open("ab", buffering=0) as file, pytest.raises(OSError, match="too large"):
        write_piece(file, b"y" * 100_000)
    assert path.stat().st_size == 150_000  # what fits is there, and closing raises nothing
