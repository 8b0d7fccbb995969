"""Trains the tiny recipe of every task once to the end, once with three deaths by SIGKILL; forked as in nursery.py."""

from __future__ import annotations

import json
import mmap
import os
import random
import signal
import sys
import time
from pathlib import Path

import torch

from glassformer.tasks import TASKS
from glassformer.training.begin import again, begin
from glassformer.training.events import StepDone
from glassformer.training.loop import train
from tiny_tasks import tiny

KILLS, STEPS = 3, 24
CHANGES = {"save_every": 2, "evaluate_every": 6, "ema": 0.9, "average": 2}


def live(kind: str, folder: Path, marks: mmap.mmap, steps: int = STEPS) -> None:
    """One life: begin or go on, to the end; the step is written where it outlives a kill."""
    torch.set_num_threads(1)
    begun = (folder / "config.toml").is_file()
    config = tiny(kind, train=CHANGES | {"steps": steps}, model={"dropout": 0.1})
    for event in train(again(folder) if begun else begin(config, folder), resume=begun):
        if isinstance(event, StepDone):
            marks[0] = event.step


def life(kind: str, folder: Path, until: int | None) -> int:
    """Fork; kill it a moment after that step, or let it live to its end. The wait status of the child."""
    marks = mmap.mmap(-1, 1)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            live(kind, folder, marks)
            status = 0
        finally:
            os._exit(status)
    if until is not None:
        while marks[0] < until and os.waitpid(child, os.WNOHANG)[0] == 0:
            time.sleep(0.001)
        time.sleep(random.Random(until).uniform(0, 0.02))
        os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


def lives(kind: str, folder: Path) -> dict[str, int]:
    """A whole run and a killed one of a task: how often it was killed, and the wait status of the two last lives."""
    live(kind, folder / "warm-up", mmap.mmap(-1, 1), steps=1)  # whatever is imported when it is first used
    whole = life(kind, folder / "whole", None)
    killed = [life(kind, folder / "killed", STEPS * (i + 1) // (KILLS + 2)) for i in range(KILLS)]
    last = life(kind, folder / "killed", None)
    return {"deaths": sum(os.WIFSIGNALED(status) for status in killed), "whole": whole, "last": last}


def main(folder: Path) -> None:
    (folder / "lives.json").write_text(json.dumps({kind: lives(kind, folder / kind) for kind in TASKS}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
