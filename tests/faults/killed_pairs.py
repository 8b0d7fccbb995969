"""Trains pairs of ranks and kills them: both at once or one of them, at random moments, some inside a save."""

from __future__ import annotations

import json
import mmap
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glassformer.ranks import Ranks
from glassformer.training import events
from glassformer.training.loop import train
from pairs import ended, job_of, start

CHANGES = {"steps": 30, "save_every": 2, "evaluate_every": 10, "log_every": 1, "keep": 2, "ema": 0.9, "average": 2}
STEP, SAVING = range(2)  # bytes that outlive a killed process
ENOUGH, INSIDE, MOST = 6, 2, 40


def life(folder: Path, world: int, changes: Mapping[str, Any], model: Mapping[str, Any], marks: mmap.mmap) -> list[int]:
    """Begin or go on; the process ids."""
    marks[STEP] = marks[SAVING] = 0

    def work(ranks: Ranks) -> None:
        job = job_of("translation", folder, ranks, {**CHANGES, **changes}, model)
        for event in train(job, resume=bool(job.run.checkpoints_by_step())):
            match event:
                case events.Saving() if ranks.first:
                    marks[SAVING] = 1
                case events.Saved() if ranks.first:
                    marks[SAVING] = 0
                case events.StepDone() if ranks.first:
                    marks[STEP] = event.step

    return start(world, work)


@dataclass
class Moment:
    """So many steps after the first one of a life, and then, if asked for, inside a save."""

    marks: mmap.mmap
    after: int
    inside: bool
    begun: int = 0

    def __call__(self) -> bool:
        self.begun = self.begun or self.marks[STEP]
        there = bool(self.begun) and self.marks[STEP] - self.begun >= self.after
        return there and (bool(self.marks[SAVING]) or not self.inside)


def killed(children: list[int], when: Callable[[], bool], whom: list[int]) -> list[int]:
    """Wait for the moment, kill; the statuses of all, which must all end by themselves then."""
    while not when() and os.waitpid(children[0], os.WNOHANG) == (0, 0):
        time.sleep(0.001)
    for one in whom:
        with suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)
    statuses = []
    for child in children:
        with suppress(ChildProcessError):  # ended before it could be killed
            statuses.append(os.waitpid(child, 0)[1])
    return statuses


def deaths(folder: Path, parallel: str, seed: int) -> dict[str, int]:
    """whole/, uninterrupted, and killed/, until there were enough deaths; then to the end."""
    chance, marks = random.Random(seed), mmap.mmap(-1, 2)
    changes, model = {"parallel": parallel, "accumulate": 1}, {"dropout": 0.1}
    whole = ended(life(folder / "whole", 2, changes, model, marks))
    count = saving = alone = 0
    while (count < ENOUGH or saving < INSIDE) and count < MOST:
        children = life(folder / "killed", 2, changes, model, marks)
        moment = Moment(marks, chance.randint(2, 4), inside=saving < INSIDE and count % 2 == 0)
        one = chance.random() < 0.5
        was = killed(children, moment, [chance.choice(children)] if one else children)
        if not any(os.WIFSIGNALED(status) for status in was):
            break  # the run has ended
        count, alone = count + 1, alone + one
        saving += marks[SAVING]
    last = ended(life(folder / "killed", 2, changes, model, marks))
    return {"deaths": count, "saving": saving, "alone": alone, "whole": sum(whole), "last": sum(last)}


def worlds(folder: Path, parallel: str) -> dict[str, int]:
    """whole/ on two ranks; changed/ on two, on one, on two again, each killed, and to its end in the other way."""
    marks, changes = mmap.mmap(-1, 2), {"parallel": parallel, "accumulate": 1}
    other = {**changes, "parallel": {"ddp": "fsdp", "fsdp": "ddp"}[parallel]}
    statuses = ended(life(folder / "whole", 2, changes, {}, marks))
    for world, until in ((2, 9), (1, 16), (2, 23)):
        children = life(folder / "changed", world, changes, {}, marks)
        killed(children, lambda until=until: marks[STEP] >= until, children)
    statuses += ended(life(folder / "changed", 2, other, {}, marks))
    return {"failed": sum(statuses)}


def main(folder: Path) -> None:
    found = {}
    for parallel in ("ddp", "fsdp"):
        (folder / parallel / "worlds").mkdir(parents=True)
        found[parallel] = {**deaths(folder / parallel, parallel, 0), **worlds(folder / parallel / "worlds", parallel)}
    (folder / "found.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
