"""Ranks that train together, forked from one process that has torch in memory: they are told what torchrun tells."""

from __future__ import annotations

import json
import os
import socket
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from itertools import product
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from glassformer.ranks import Ranks
from glassformer.tasks import TASKS
from glassformer.torchrun import ranks_here
from glassformer.training import events
from glassformer.training.begin import again, begin
from glassformer.training.job import Training
from glassformer.training.loop import train
from tiny_tasks import tiny

SAME = {"log_every": 1, "evaluate_every": 2, "save_every": 4, "steps": 4, "ema": 0.9, "average": 1}


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def start(world: int, *works: Callable[[Ranks], None]) -> list[int]:
    """Fork so many ranks, which meet for each of the works; their process ids. A failed one exits with 1."""
    ports, children = [free_port() for _ in works], []
    for rank in range(world):
        child = os.fork()
        if child == 0:
            told = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": world}
            os.environ |= {"MASTER_ADDR": "127.0.0.1", **{name: str(value) for name, value in told.items()}}
            status = 1
            try:
                torch.set_num_threads(1)
                for work, port in zip(works, ports, strict=True):
                    os.environ["MASTER_PORT"] = str(port)
                    with ranks_here() as ranks:
                        work(ranks)
                status = 0
            except SystemExit:
                pass
            except BaseException as error:
                sys.stderr.write(f"{traceback.format_exc()}\nrank {rank}: {error}\n")
            finally:
                sys.stderr.flush()
                os._exit(status)
        children.append(child)
    return children


def ended(children: list[int]) -> list[int]:
    """The wait status of each."""
    return [os.waitpid(child, 0)[1] for child in children]


@dataclass(frozen=True)
class InDouble:
    """A task whose batches are in float64, as its model is."""

    task: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.task, name)

    def collate(self, *given: Any) -> Any:
        batch = self.task.collate(*given)
        floats = {each.name: getattr(batch, each.name) for each in fields(batch)}
        wide = {name: x.double() for name, x in floats.items() if isinstance(x, Tensor) and x.is_floating_point()}
        return replace(batch, **wide)


def in_double(job: Training) -> Training:
    return replace(job, model=job.model.double(), task=InDouble(job.task), measure=None, show=None)


def job_of(kind: str, folder: Path, ranks: Ranks, changes: Mapping[str, Any], model: Mapping[str, Any]) -> Training:
    config = tiny(kind, train={**SAME, **changes}, model={"dropout": 0.0, **model})
    begun = ranks.from_first(lambda: (folder / "config.toml").is_file())
    shared = {"train.parallel": config.train.parallel}
    return in_double(again(folder, shared, ranks) if begun else begin(config, folder, ranks=ranks))


def live(kind: str, folder: Path, changes: Mapping[str, Any], model: Mapping[str, Any]) -> Callable[[Ranks], None]:
    """Train, or go on; rank 0 writes what every step and evaluation found."""

    def work(ranks: Ranks) -> None:
        job = job_of(kind, folder, ranks, changes, model)
        found: list[Any] = []
        for event in train(job, resume=bool(job.run.checkpoints_by_step())):
            match event:
                case events.Logged():
                    found.append([event.step, event.loss, event.gradient_norm, event.tokens])
                case events.Evaluated() | events.Averaged():
                    found.append([getattr(event, "step", -1), *event.metrics.values()])
        if ranks.first:
            (folder.parent / f"{folder.name}.json").write_text(json.dumps(found))

    return work


VARIANTS = {"one": (1, None), "ddp": (2, "ddp"), "fsdp": (2, "fsdp")}
CASES: dict[str, tuple[str, dict[str, Any]]] = {  # the recipe of every task, and losses and more that none of them has
    **{kind: (kind, {}) for kind in TASKS},
    "smoothed and chunked": ("translation", {"loss": {"kind": "cross_entropy", "smoothing": 0.1}, "chunk": 16}),
    "focal": ("classification", {"loss": {"kind": "focal", "gamma": 2.0}}),
    "binary_cross_entropy": ("classification", {"loss": "binary_cross_entropy"}),
    "mae": ("forecasting", {"loss": "mae"}),
    "huber": ("forecasting", {"loss": {"kind": "huber", "delta": 0.5}}),
    "recomputed": ("translation", {"recompute": True}),
    "sgd": ("language_model", {"optimizer": {"kind": "sgd", "momentum": 0.9, "weight_decay": 0.01}, "clip": 0.5}),
}
EACH = (1, 2)  # micro-batches of each of two ranks: without accumulation and with it


def main(folder: Path, cases: list[str]) -> None:
    """Every case on one rank and on two."""
    failed = False
    for name, (world, parallel) in VARIANTS.items():
        works = []
        for case, each in product(cases, EACH):
            kind, more = CASES[case]
            changes = {**more, "accumulate": each * 2 // world} | ({"parallel": parallel} if parallel else {})
            (folder / case).mkdir(parents=True, exist_ok=True)
            works.append(live(kind, folder / case / f"{name}-{each}", changes, {}))
        failed |= any(ended(start(world, *works)))
    sys.exit(failed)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] or list(CASES))
