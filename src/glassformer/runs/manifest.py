"""The manifest of a folder: the format, and size and SHA-256 of every file. A file that does not match is not read."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from glassformer.errors import FileError
from glassformer.files import read_json, sync, write_json

MANIFEST = "manifest.json"
FORMAT = 1  # of a folder that one process writes
NEWEST = 2  # with shards of several ranks: see shards.py. Older is read, newer refused


def write_manifest(folder: Path, *, sharded: bool = False) -> None:
    """Sync every file and record its size and hash; the manifest is written last.

    Training waits for this, so a file is hashed while the disk still writes it.
    """
    paths = sorted(folder.iterdir())
    with ThreadPoolExecutor() as pool:
        synced = [pool.submit(sync, path) for path in paths]
        hashes = list(pool.map(sha256, paths))
        for each in synced:
            each.result()
    files = {path.name: {"bytes": path.stat().st_size, "sha256": x} for path, x in zip(paths, hashes, strict=True)}
    write_json(folder / MANIFEST, {"format": NEWEST if sharded else FORMAT, "files": files})


def read_manifest(folder: Path) -> dict[str, dict[str, Any]]:
    """The files that a folder must hold. Cheap: nothing is hashed."""
    path = folder / MANIFEST
    if not path.is_file():
        raise FileError("manifest_missing", path=folder)
    manifest = read_json(path)
    if not isinstance(manifest, dict) or not isinstance(manifest.get("format"), int):
        raise FileError("manifest_unreadable", path=path)
    if manifest["format"] > NEWEST:
        raise FileError("format_newer", path=folder, format=manifest["format"], known=NEWEST)
    files = manifest.get("files")
    if not isinstance(files, dict) or not all(_is_entry(entry) for entry in files.values()):
        raise FileError("manifest_unreadable", path=path)
    if any(name != Path(name).name for name in files):
        raise FileError("manifest_unreadable", path=path)
    return files


def verify(folder: Path, names: Collection[str] | None = None) -> None:
    """Raises unless every file, or those in `names`, is there and bit for bit what was written."""
    for name, entry in read_manifest(folder).items():
        path = folder / name
        if names is not None and name not in names:
            continue
        if not path.is_file():
            raise FileError("checkpoint_incomplete", path=folder, file=name)
        size = path.stat().st_size
        if size != entry["bytes"]:
            raise FileError("checkpoint_truncated", path=path, size=size, expected=entry["bytes"])
        if sha256(path) != entry["sha256"]:
            raise FileError("checkpoint_altered", path=path)


def is_whole(folder: Path) -> bool:
    """Whether there is a manifest and every file has the right size: enough to list a folder, not to trust it."""
    try:
        files = read_manifest(folder)
        return all((folder / name).stat().st_size == entry["bytes"] for name, entry in files.items())
    except (FileError, OSError):
        return False


def sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FileError("file_unreadable", path=path, why=error.strerror or str(error)) from error


def _is_entry(entry: object) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("bytes"), int) and isinstance(entry.get("sha256"), str)
