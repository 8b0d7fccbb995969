"""What takes seconds to make is made once for all workers of a test session; whoever writes into it takes a copy."""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

PLACE = "GLASSFORMER_TEST_SESSION"  # the environment carries it to the workers of xdist and to commands


def place() -> Path:
    """A folder of this session, gone when the process that made it ends."""
    if PLACE not in os.environ:
        os.environ[PLACE] = made = tempfile.mkdtemp(prefix="glassformer-test-")
        owner = os.getpid()
        atexit.register(lambda: os.getpid() == owner and shutil.rmtree(made, ignore_errors=True))  # not a fork of it
    return Path(os.environ[PLACE])


def once(name: str, make: Callable[[Path], object]) -> Path:
    """What `make` leaves under a path; the first process that asks makes it, the others wait."""
    path, done = place() / name, place() / f"{name}.done"
    with (place() / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(path, ignore_errors=True)
            make(path)
            done.touch()
    return path
