from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from glassformer.errors import FileError
from glassformer.runs import read_manifest, verify, write_manifest
from glassformer.runs.manifest import NEWEST, is_whole, sha256


def folder(tmp_path: Path) -> Path:
    made = tmp_path / "step"
    made.mkdir()
    (made / "model").write_bytes(b"abc")
    (made / "state").write_bytes(b"")
    write_manifest(made)
    return made


def test_size_and_sha256_of_every_file(tmp_path: Path) -> None:
    abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # FIPS 180-4, the example "abc"
    files = read_manifest(folder(tmp_path))
    assert files["model"] == {"bytes": 3, "sha256": abc}
    assert list(files) == ["model", "state"]
    verify(tmp_path / "step")
    assert is_whole(tmp_path / "step")


def truncate(made: Path) -> None:
    (made / "model").write_bytes(b"ab")


def alter(made: Path) -> None:
    (made / "model").write_bytes(b"abd")


def remove(made: Path) -> None:
    (made / "model").unlink()


def remove_manifest(made: Path) -> None:
    (made / "manifest.json").unlink()


def damage_manifest(made: Path) -> None:
    (made / "manifest.json").write_bytes((made / "manifest.json").read_bytes()[:-10])


def newer(made: Path) -> None:
    (made / "manifest.json").write_text(json.dumps({"format": NEWEST + 1, "files": {}}))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (truncate, "model has 2 bytes instead of 3: it was cut off; use another checkpoint"),
        (alter, r"model is not what was written \(its SHA-256 differs\)"),
        (remove, "step lacks model; use another checkpoint"),
        (remove_manifest, r"step has no manifest\.json, so it is not a whole checkpoint"),
        (damage_manifest, r"manifest\.json is not JSON"),
        (newer, "step has format 3, and this version reads up to 2; install a newer Glassformer"),
    ],
)
def test_whatever_is_wrong_is_one_line(tmp_path: Path, damage: Callable[[Path], None], message: str) -> None:
    made = folder(tmp_path)
    damage(made)
    with pytest.raises(FileError, match=message):
        verify(made)
    assert is_whole(made) == (damage is alter)  # a look at sizes alone cannot see a changed byte
    if damage in (alter, truncate, remove):
        assert "model" in read_manifest(made)


@pytest.mark.parametrize(
    "content",
    [
        [],
        {"format": "1", "files": {}},
        {"format": 1},
        {"format": 1, "files": []},
        {"format": 1, "files": {"model": 3}},
        {"format": 1, "files": {"model": {"bytes": "3", "sha256": ""}}},
        {"format": 1, "files": {"../model": {"bytes": 3, "sha256": ""}}},
    ],
)
def test_a_manifest_that_is_none(tmp_path: Path, content: object) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps(content))
    with pytest.raises(FileError, match=r"manifest\.json is not a manifest of Glassformer"):
        read_manifest(tmp_path)


def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be read: Is a directory"):
        sha256(tmp_path)


def test_what_is_not_safe_on_the_disk_gets_no_manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Syncing happens beside hashing, and its failure must not get lost there."""
    (tmp_path / "weights").write_bytes(b"1234")

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space left"):
        write_manifest(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["weights"]
