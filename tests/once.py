"""What takes seconds to make is made once for all workers of a test session; whoever writes into it takes a copy."""

from __future__ import annotations

import atexit
import fcntl
import json
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
    """What `make` leaves under a path; the first process that asks makes it, the others wait.

    If someone has written into it since, the next who asks is told what: permissions would not stop root.
    """
    path, done = place() / name, place() / f"{name}.done"
    with (place() / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(path, ignore_errors=True)
            make(path)
            done.write_text(json.dumps(_files(path)))
        then, now = json.loads(done.read_text()), _files(path)
        changed = sorted(file for file in {*then, *now} if then.get(file) != now.get(file))
        assert not changed, f"a test wrote into what all tests share, {path}: {changed}"
    return path


def _files(path: Path) -> dict[str, list[int]]:
    """Every file below a path, with its size and when it was written."""
    files = [file for file in (path, *path.rglob("*")) if file.is_file()]
    return {str(file): [file.stat().st_size, file.stat().st_mtime_ns] for file in files}
