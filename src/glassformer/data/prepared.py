"""What is made once from large data and found again by every later command: texts, vocabularies and tokens, in folders.

They lie in the user's cache, each under a name made from everything that it depends on. A folder gets its name when it
is whole; until then it is a draft, which the next process continues. One process makes it, others wait for it.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glassformer.data.watching import tell
from glassformer.errors import FileError, warn
from glassformer.files import TEMPORARY, disk, read_json, remove_folder, sync, write_json
from glassformer.places import own_folder

ABOUT = "about.json"  # of a whole folder: what it was made from, and the size and checksum of each file
SAMPLES, SAMPLE = 16, 2**16  # pieces of a file that are looked at, and bytes of each
BLOCK = 2**24  # bytes
_CHECKED: set[tuple[str, int, int]] = set()  # folders that this process has checked


def home() -> Path:
    """The folder that holds them all: GLASSFORMER_CACHE moves it."""
    return own_folder("GLASSFORMER_CACHE", "XDG_CACHE_HOME", ".cache") / "prepared"


def mark_of(value: Any) -> str:
    """A short hash of a JSON value: equal values, equal marks."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:24]


def identity(path: Path) -> dict[str, Any]:
    """What tells a file from another: size, time of change, and a hash of pieces spread evenly over it.

    A file of gigabytes is not read for it. Whoever writes other bytes of the same number into the places between, and
    sets the time back, is not found out.
    """
    try:
        about = path.stat()
        digest = hashlib.sha256()
        with path.open("rb") as file:
            for i in range(SAMPLES):
                file.seek(max(0, about.st_size - SAMPLE) * i // (SAMPLES - 1))
                digest.update(file.read(SAMPLE))
    except FileNotFoundError as error:
        raise FileError("data_no_file", path=path) from error
    except OSError as error:
        raise FileError("file_unreadable", path=path, why=error.strerror or str(error)) from error
    return {"bytes": about.st_size, "changed": about.st_mtime_ns, "samples": digest.hexdigest()}


def prepared(kind: str, key: Mapping[str, Any], make: Callable[[Path], None]) -> Path:
    """The folder of `kind` for `key`, made by `make` unless it is there.

    `make` is given a draft, which may hold what an interrupted process has finished: it must not trust a file there
    that it did not write whole.
    """
    folder = home() / f"{kind}-{mark_of(key)}"
    if folder.is_dir() and _sound(folder):
        return folder
    with _alone(folder):
        if folder.is_dir():  # made while this process waited; or damaged
            if _sound(folder):
                return folder
            warn("prepared_damaged", path=folder)
            remove_folder(folder)
        draft = folder.with_name(TEMPORARY + folder.name)
        with disk(draft):
            draft.mkdir(exist_ok=True)
            make(draft)
            _seal(draft, kind, key)
            draft.rename(folder)
            sync(folder.parent)
    return folder


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Holds the kernel's lock beside the folder; a killed process leaves none behind."""
    with disk(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            tell("waiting", 0)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _seal(draft: Path, kind: str, key: Mapping[str, Any]) -> None:
    """Write down what the folder holds, after everything else in it."""
    files = {str(path.relative_to(draft)): _measured(path) for path in _files(draft)}
    for path in [*_files(draft), draft]:
        sync(path)
    write_json(draft / ABOUT, {"kind": kind, "key": key, "files": files})


def _sound(folder: Path) -> bool:
    """Whether every file has the size and the checksum that it was sealed with; asked once in a process."""
    try:
        about = (folder / ABOUT).stat()
        mark = str(folder.resolve()), about.st_ino, about.st_mtime_ns
        if mark in _CHECKED:
            return True
        files = read_json(folder / ABOUT)["files"]
        sound = bool({*files} == {str(path.relative_to(folder)) for path in _files(folder)}) and all(
            (folder / name).stat().st_size == known["bytes"] and _measured(folder / name) == known
            for name, known in files.items()
        )
    except (OSError, FileError, KeyError, TypeError, AttributeError):
        return False
    if sound:
        _CHECKED.add(mark)
    return sound


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / ABOUT)


def _measured(path: Path) -> dict[str, int]:
    """The size and the checksum of a file: gigabytes in a second, and no byte can change alone."""
    size = mark = 0
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            size, mark = size + len(block), zlib.crc32(block, mark)
    return {"bytes": size, "crc32": mark}


@dataclass(frozen=True)
class PreparedFolder:
    """One folder of the cache; `whole` is False for a draft."""

    path: Path
    kind: str
    bytes: int
    whole: bool


def every_prepared() -> Sequence[PreparedFolder]:
    """All that lies in the cache, drafts too, by name."""
    if not home().is_dir():
        return []
    with disk(home()):
        return [
            PreparedFolder(
                path,
                path.name.removeprefix(TEMPORARY).partition("-")[0],
                sum(each.stat().st_size for each in path.rglob("*") if each.is_file()),
                not path.name.startswith(TEMPORARY),
            )
            for path in sorted(home().iterdir())
            if path.is_dir()
        ]


def clear() -> int:
    """Remove everything; the number of bytes that this gave back. What a process is making is left to it."""
    freed = 0
    for each in every_prepared():
        lock = home() / f"{each.path.name.removeprefix(TEMPORARY)}.lock"
        with disk(lock):
            handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(each.path) if not each.whole else remove_folder(each.path)
            freed += each.bytes
        except BlockingIOError:
            continue
        finally:
            os.close(handle)
    return freed
