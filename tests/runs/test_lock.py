from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from glassformer.errors import FileError
from glassformer.runs import locked

HOLD = "import sys, time; from pathlib import Path; from glassformer.runs import locked\n"
HOLD += "with locked(Path(sys.argv[1])):\n    print('held', flush=True)\n    time.sleep(600)"


def test_one_at_a_time_in_one_process(tmp_path: Path) -> None:
    in_use = pytest.raises(FileError, match="is in use: another process trains there")
    with locked(tmp_path), in_use, locked(tmp_path):
        pass
    with locked(tmp_path):
        pass


def test_a_killed_process_leaves_no_lock(tmp_path: Path) -> None:
    other = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE)
    assert other.stdout is not None
    assert other.stdout.readline() == b"held\n"
    with pytest.raises(FileError, match="is in use"), locked(tmp_path):
        pass
    os.kill(other.pid, signal.SIGKILL)
    other.wait()
    other.stdout.close()
    with locked(tmp_path):
        pass


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="none cannot be written: No such file or directory"), locked(tmp_path / "none"):
        pass
