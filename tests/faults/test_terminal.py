"""A terminal that is closed while it shows a training: a real one, of the operating system, with its SIGHUP."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import termios
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

import warm
from glassformer.config.toml import to_toml
from glassformer.runs import Run
from glassformer.runs.manifest import verify
from tiny_tasks import TINY

PATIENCE = 240  # seconds until a test gives up
STEPS = 4000
COLD = (sys.executable, "-m", "glassformer")  # with all its imports


def command(recipe: Path, out: Path, steps: int, start: Sequence[str] | None = None) -> list[str]:
    return [*(start or warm.command()), "train", str(recipe), "--out", str(out), "--steps", str(steps)]


def environment() -> dict[str, str]:
    paths = os.pathsep.join(sys.path)
    return {**os.environ, "PYTHONPATH": paths, "TERM": "xterm", "OMP_NUM_THREADS": "1", "GLASSFORMER_LANG": "en"}


class Terminal:
    """`glassformer train` at a terminal of its own, as its session's first process: closing it is a hang-up."""

    def __init__(self, command: Sequence[str], *, deaf: bool) -> None:
        ours, theirs = os.openpty()
        self.ours = ours

        def sit_down() -> None:
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            signal.signal(signal.SIGHUP, signal.SIG_IGN if deaf else signal.SIG_DFL)

        self.process = subprocess.Popen(
            command,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=environment(),
            preexec_fn=sit_down,
        )
        os.close(theirs)
        self.shown = b""

    def read_until(self, word: bytes) -> None:
        """What the screen shows, until a word is on it."""
        alarm = threading.Timer(PATIENCE, self.process.kill)
        alarm.start()
        try:
            while word not in self.shown:
                self.shown += os.read(self.ours, 4096)
        finally:
            alarm.cancel()

    def close(self) -> int:
        """Nobody looks any more; the exit code of the training that was shown."""
        os.close(self.ours)
        try:
            return self.process.wait(PATIENCE)
        finally:
            self.process.kill()


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    tables = TINY["translation"]
    train = tables["train"] | {"evaluate_every": 0, "save_every": 1000, "log_every": 10}
    path = tmp_path / "recipe.toml"
    path.write_text(to_toml(tables | {"train": train}), encoding="utf-8")
    return path


@pytest.mark.slow
def test_a_closed_terminal_saves_the_step_that_was_reached(recipe: Path, tmp_path: Path) -> None:
    terminal = Terminal(command(recipe, tmp_path / "run", STEPS, start=COLD), deaf=False)
    terminal.read_until(b"tokens")  # the line below the bar: steps are being taken
    assert terminal.close() == 1
    run = Run.open(tmp_path / "run")
    assert run.status["state"] == "terminated" and 0 < run.status["step"] < STEPS
    assert run.last == run.checkpoint(run.status["step"])  # between two saves: this one was made for the hang-up
    verify(run.last)
    assert [line["step"] for line in run.log.read()][-1] <= run.status["step"]


@pytest.mark.slow
def test_whoever_does_not_hear_a_hang_up_trains_to_the_end(recipe: Path, tmp_path: Path) -> None:
    """As under nohup: every line and every redrawing of the bar now fails, and training goes on."""
    terminal = Terminal(command(recipe, tmp_path / "run", 150), deaf=True)
    terminal.read_until(b"tokens")
    assert terminal.close() == 0
    run = Run.open(tmp_path / "run")
    assert (run.status["state"], run.status["step"], run.last) == ("finished", 150, run.checkpoint(150))
    assert [line["step"] for line in run.log.read()] == list(range(10, 151, 10))


@pytest.mark.slow
def test_a_pipe_that_nobody_reads_any_more_ends_no_training(recipe: Path, tmp_path: Path) -> None:
    """`glassformer train … | head -1`."""
    training = subprocess.Popen(
        command(recipe, tmp_path / "run", 150), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    )
    assert training.stdout is not None and training.stderr is not None
    training.stdout.readline()
    training.stdout.close()
    try:
        assert training.wait(PATIENCE) == 0, training.stderr.read()
    finally:
        training.kill()
        training.stderr.close()
    run = Run.open(tmp_path / "run")
    assert (run.status["state"], run.status["step"]) == ("finished", 150)
