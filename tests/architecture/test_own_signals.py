from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from own_signals import from_outside, send

TESTS = Path(__file__).parents[1]
SWALLOWED = """
import os, signal
def test_that_takes_the_signal_for_its_own():
    taken = []
    signal.signal(signal.SIGTERM, lambda number, frame: taken.append(number))
    os.kill(os.getpid(), signal.SIGTERM)
    assert not taken
def test_after_it():
    pass
"""


@pytest.fixture
def deaf() -> Iterator[list[int]]:
    """SIGTERM is noted, not obeyed, as in a training."""
    taken: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: taken.append(number))
    yield taken
    signal.signal(signal.SIGTERM, before)


def test_only_what_a_test_did_not_send_is_found(deaf: list[int]) -> None:
    with from_outside() as signals:
        send(signal.SIGTERM)
    assert deaf == [signal.SIGTERM] and signals == []
    with from_outside() as signals:
        os.kill(os.getpid(), signal.SIGTERM)
    assert signals == [signal.SIGTERM]


def test_the_suite_stops_when_it_is_asked_to(tmp_path: Path) -> None:
    """Before, the test failed and the suite went on."""
    (tmp_path / "test_it.py").write_text(SWALLOWED)
    command = [sys.executable, "-m", "pytest", "-p", "conftest", "-p", "no:cacheprovider", "test_it.py", "-q"]
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])}
    ended = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 2 and "SIGTERM came during test_it.py::test_that_takes" in ended.stdout
    assert "failed" not in ended.stdout and "passed" not in ended.stdout
