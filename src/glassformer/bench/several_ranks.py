"""The same training step on one rank and on two, by DDP and FSDP, beside what the ledger predicts for it.

All run in one pair of processes and take turns; "one" is rank 0 by itself with the micro-batches of both. What one rank
takes is measured; what sending adds, and what each rank holds between two steps, is predicted.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from glassformer.bench.training_step import SETTINGS, tokens, trained_model, translating
from glassformer.config.recipe import RunConfig, TrainConfig
from glassformer.data.batch import PairBatch
from glassformer.files import write_json
from glassformer.ledger.devices import Device, this_machine
from glassformer.ledger.job import Job
from glassformer.ledger.network import REACHED
from glassformer.ledger.plan import Plan, plan
from glassformer.models.build import build
from glassformer.ranks import ALONE, Ranks
from glassformer.torchrun import ranks_here
from glassformer.training.meter import Meter
from glassformer.training.optimizer import make_optimizer
from glassformer.training.parallel import Spread
from glassformer.training.precision import LossScale
from glassformer.training.step import Stepper
from glassformer.words import say

WORLD, ROUNDS, STEPS = 2, 7, 3
WAYS = ("one", "ddp", "fsdp")
SETTING = SETTINGS["cpu"]
HELD = ("weights", "gradients", "optimizer_state")
CPU = torch.device("cpu")


def run() -> dict[str, Any]:
    """Started by torchrun, as a person would."""
    with tempfile.TemporaryDirectory() as place:
        answer = Path(place) / "ranks.json"
        command = ("torch.distributed.run", "--standalone", "--nproc-per-node", str(WORLD), "-m", __name__, str(answer))
        subprocess.run([sys.executable, "-m", *command], check=True, stdout=sys.stderr)
        found: dict[str, Any] = json.loads(answer.read_text())
    return found


def measure(ranks: Ranks) -> dict[str, Any]:
    """Seconds of a step in each way, and the bytes that a rank holds between two steps."""
    ways = {way: _stepper(way, ranks) for way in WAYS if way != "one" or ranks.first}
    seconds: dict[str, list[float]] = {way: [] for way in WAYS}
    for turn in range(ROUNDS + 1):
        for way in WAYS:
            ranks.wait()
            taken = _timed(ways[way], way) if way in ways else 0.0
            if turn:  # the first is for whatever is made when it is first needed
                seconds[way].append(taken)
    held = {way: held_bytes(stepper) for way, stepper in ways.items()}
    return {
        "seconds": seconds,
        "held": held,
        "link": _link(ranks, sum(p.numel() for p in build(trained_model(SETTING), device="meta").parameters()) * 4),
        "product": this_machine().peaks["float32"] if ranks.first else 0.0,
        "copies": this_machine().bandwidth if ranks.first else 0.0,
    }


def _stepper(way: str, ranks: Ranks) -> Stepper:
    """A step of training itself. `one`: without the others."""
    ranks = ALONE if way == "one" else ranks
    config = RunConfig(model=trained_model(SETTING), train=TrainConfig(parallel=None if way == "one" else way))
    model, task = build(config.model, seed=0).train(), translating()
    spread = Spread.of(model, task, config, CPU, ranks)
    return Stepper(
        model=model,
        task=task,
        optimizer=make_optimizer(model, config.train),
        loss_scale=LossScale("float32", CPU),
        meter=Meter(CPU),
        device=CPU,
        clip=1.0,
        spread=spread,
    )


def _timed(stepper: Stepper, way: str) -> float:
    source, target, labels = tokens(SETTING, "cpu")
    batch = PairBatch(source, None, target, labels, labels.numel())
    begun = time.perf_counter()
    for _ in range(STEPS):
        stepper.take_step([batch] * (WORLD if way == "one" else 1), 1e-4)
    return (time.perf_counter() - begun) / STEPS


def held_bytes(stepper: Stepper) -> dict[str, int]:
    """What lies on this rank after a step: parameters, their gradients, the states of the optimiser."""
    parameters = list(stepper.model.parameters())
    states = [
        x for state in stepper.optimizer.state.values() for x in state.values() if isinstance(x, Tensor) and x.dim()
    ]
    parts: list[list[Any]] = [[*parameters], [p.grad for p in parameters if p.grad is not None], states]
    return dict(zip(HELD, map(_bytes, parts), strict=True))


def _bytes(tensors: list[Any]) -> int:
    local = [getattr(x, "_local_tensor", x) for x in tensors]
    return sum(x.numel() * x.element_size() for x in local)


def _link(ranks: Ranks, size: int) -> float:
    """Bytes/s in one direction: an all-reduce of `size` bytes sends 2·(n−1)/n of them from each rank."""
    import torch.distributed as dist

    numbers, times = torch.ones(size // 4), []
    for _ in range(5):
        ranks.wait()
        begun = time.perf_counter()
        dist.all_reduce(numbers)
        times.append(time.perf_counter() - begun)
    return 2 * (ranks.world - 1) / ranks.world * size / statistics.median(times)


# --- prediction ---


def predicted(numbers: Mapping[str, Any], way: str) -> Plan:
    """Not recorded: a table compares what was measured with what the ledger says today."""
    sizes: dict[str, Any] = {"batch": SETTING.batch, "length": SETTING.length, "optimizer": "adam", "loss": "whole"}
    alone = Job(accumulate=WORLD, dtype="float32", parallel="ddp", **sizes)
    job = alone if way == "one" else replace(alone, devices=WORLD, accumulate=1, parallel=way)
    model, machine = trained_model(SETTING), _machine(numbers)
    one = plan("ranks", model, tokens=1, device=machine, job=alone, utilisation=1.0)
    spent = statistics.median(numbers["seconds"]["one"]) - one.update
    share = min(1.0, one.step_flops["all"] / (spent * machine.peak("float32")))
    return plan("ranks", model, tokens=1, device=machine, job=job, utilisation=share)


def _machine(numbers: Mapping[str, Any]) -> Device:
    """The processor as it was measured then, and the link between two of its processes."""
    return Device(
        name="recorded",
        peaks={"float32": numbers["product"]},
        memory=float("inf"),
        bandwidth=numbers["copies"],
        link=numbers["link"] / REACHED,
        node=WORLD,
        network=numbers["link"],
        sheet="",
        accelerator=False,
    )


def table(numbers: Mapping[str, Any], lang: str) -> list[list[str]]:
    """A line for each way: time and throughput beside their prediction, and what a rank holds beside its own."""
    titles = ("way", "milliseconds", "predicted", "tokens", "held", "held_predicted")
    lines = [[say(f"columns.ranks.{key}", lang) for key in titles]]
    for way in WAYS:
        made, seconds = predicted(numbers, way), statistics.median(numbers["seconds"][way])
        items = {item.name: item.bytes for item in made.memory}
        held, expected = sum(numbers["held"][way].values()), sum(items[name] for name in HELD)
        each = SETTING.batch * SETTING.length * WORLD
        lines.append(
            [
                say(f"bench.ranks.{way}", lang),
                f"{seconds * 1000:.0f}",
                f"{made.step * 1000:.0f} ({_off(made.step, seconds)})",
                f"{each / seconds:,.0f}",
                f"{held / 2**20:.1f}",
                f"{expected / 2**20:.1f} ({_off(expected, held)})",
            ]
        )
    return lines


def _off(guess: float, found: float) -> str:
    return f"{100 * (guess / found - 1):+.1f} %".replace("-", "−")


def main(answer: Path) -> None:
    torch.set_num_threads(1)
    with ranks_here() as ranks:
        found = measure(ranks)
        if ranks.first:
            write_json(answer, found)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
