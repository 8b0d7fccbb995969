from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from glassformer.bench.tree_memory import anonymous, tree, watched_command
from glassformer.errors import InputError

HOLDS = "import sys; held = bytearray(b'x') * (64 << 20); print(flush=True); sys.stdin.read()"
TWO = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {HOLDS!r}])"


def test_all_descendants_are_counted_with_what_they_hold() -> None:
    with subprocess.Popen([sys.executable, "-c", TWO], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None and child.stdout is not None
        child.stdout.readline()
        pids = tree(child.pid)
        assert len(pids) == 2 and pids[0] == child.pid
        assert child.pid in tree(os.getpid())
        assert 64 << 20 < anonymous(child.pid) < 128 << 20
        child.stdin.close()
    assert anonymous(child.pid) == 0  # it has ended


@pytest.mark.slow
def test_a_command_is_watched_to_its_end() -> None:
    began = time.perf_counter()
    found = watched_command(["count", "paper-base"], os.environ, lambda: time.perf_counter() - began > 0.3)
    assert found.seen_after is not None and 0.3 < found.seen_after <= found.seconds
    assert found.anonymous > 1 << 20


@pytest.mark.slow
def test_a_command_that_fails_is_one_line() -> None:
    with pytest.raises(InputError, match=r"^glassformer count none-such failed: .*; mend that and measure again$"):
        watched_command(["count", "none-such"], os.environ)
