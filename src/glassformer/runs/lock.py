"""One run, one process: the lock is the kernel's (flock), so that a killed process leaves none behind."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from glassformer.errors import FileError
from glassformer.files import disk

LOCK = ".lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Nobody else trains in this folder while this holds; a folder in use is refused at once."""
    with disk(folder):
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise FileError("run_in_use", path=folder) from error
        yield
    finally:
        os.close(handle)
