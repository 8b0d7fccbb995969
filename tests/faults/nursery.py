"""Trains, kills and resumes, again and again: each life is a process of its own, ended by SIGKILL at a random moment.

The processes are forked from this one, which has torch in memory already: a life begins in milliseconds.
"""

from __future__ import annotations

import json
import mmap
import os
import random
import signal
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import nn

from glassformer.config.recipe import RunConfig
from glassformer.data.batch import PairBatch
from glassformer.losses import Sum
from glassformer.runs import Run
from glassformer.tasks.translation.task import Translation
from glassformer.training import train
from glassformer.training.events import Saved, Saving, Started, StepDone, Stopped
from small_run import examples, job, run_config, translation

CONFIG = run_config(steps=200, save_every=2, log_every=5, evaluate_every=20, keep=2, ema=0.9, average=2, threads=1)
SAVING, STEP, MICRO, DONE = range(4)  # bytes that outlive a killed process: in a save? where in a step?
ENOUGH, INSIDE, MOST = 24, 4, 80


@dataclass(frozen=True, kw_only=True)
class Marked(Translation):
    """Translation that writes down which micro-batch of a step it is in."""

    marks: mmap.mmap

    def loss(self, model: nn.Module, batch: PairBatch) -> Sum:
        self.marks[MICRO] += 1
        return super().loss(model, batch)


def live(folder: Path, config: RunConfig, marks: mmap.mmap) -> None:
    """One life: begin or go on, to the end."""
    torch.set_num_threads(1)
    begun = folder.exists()
    run = Run.open(folder) if begun else Run.create(folder, config)
    plain = translation(config)
    task = Marked(**vars(plain), marks=marks)
    for event in train(job(run, task=task, training=examples(60)), resume=begun):
        match event:
            case Started(leftovers=leftovers):
                marks[STEP] = len(leftovers)
            case Saving():
                marks[SAVING] = 1
            case Saved():
                marks[SAVING] = 0
            case StepDone():
                marks[MICRO] = 0
            case Stopped():
                marks[DONE] = 1


def life(folder: Path, seconds: float | None) -> dict[str, int]:
    """Fork, let it live that long or to its end, kill; how it was when it died."""
    marks = mmap.mmap(-1, 4)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            live(folder, CONFIG, marks)
            status = 0
        finally:
            os._exit(status)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return {
        "killed": int(os.WIFSIGNALED(status)),
        "failed": int(os.WIFEXITED(status) and os.WEXITSTATUS(status) != 0),
        "saving": marks[SAVING],
        "leftovers": marks[STEP],
        "micro": marks[MICRO],
        "done": marks[DONE],
    }


def enough(lives: list[dict[str, int]]) -> bool:
    """Deaths at all, inside a save, inside an accumulation."""
    deaths = [one for one in lives if one["killed"]]
    in_saves, in_steps = sum(one["saving"] for one in deaths), sum(one["micro"] > 0 for one in deaths)
    return (len(deaths) >= ENOUGH and min(in_saves, in_steps) >= INSIDE) or len(deaths) >= MOST


def main(folder: Path, seed: int) -> None:
    """whole/, and killed-0/, killed-1/ … as many as it takes: on a fast machine a run may end before enough deaths."""
    warm_up = replace(CONFIG, train=replace(CONFIG.train, steps=2))
    live(folder / "warm-up", warm_up, mmap.mmap(-1, 4))  # whatever torch loads when it is first used
    chance, lives, runs = random.Random(seed), [life(folder / "whole", None)], 0
    while not enough(lives) and not lives[-1]["failed"]:
        died = True
        while died and not lives[-1]["failed"]:
            delay = None if enough(lives) else chance.uniform(0.02, 0.4)
            lives.append(life(folder / f"killed-{runs}", delay))
            died = bool(lives[-1]["killed"])
        runs += 1
    json.dump(lives, sys.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
