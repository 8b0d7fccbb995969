"""The share of the peak that products reach in our own training steps: from recorded benchmarks, never typed in.

A step of `glassformer bench gpt-step` or `training-step` is recorded with its FLOPs, its seconds and the rate of a
large matrix product in the same run. Of all that were recorded, the one nearest in FLOPs per token speaks for a model.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from math import log
from pathlib import Path
from typing import Any

from glassformer.ledger.costs import NUMBER_BYTES, OPTIMIZER_STATES
from glassformer.ledger.devices import DEVICES, MEASURED, Device

RESULTS = Path(__file__).parents[1] / "bench" / "results"
OURS = "glassformer"
STATE_WIDTH = NUMBER_BYTES["float32"]
PAPER_WIDTH = 512  # d_model of the paper's base model


@dataclass(frozen=True)
class RecordedStep:
    """A training step of ours as a benchmark recorded it."""

    bench: str
    model: str
    accelerator: str  # "": a CPU
    flops: float
    tokens: int
    parameters: int
    seconds: float
    ceiling: float  # FLOP/s of a large product in the same run

    @property
    def sheet(self) -> Device | None:
        """The data sheet of the machine."""
        name = self.accelerator.lower()
        return next((device for device in DEVICES.values() if device.name.partition("-")[0] in name), None)

    def share(self, device: Device) -> float:
        """Of the peak of a device: of what was measured there, or of its data sheet.

        The time of the optimiser's update, which a plan adds, is not the products'.
        """
        sheet = self.sheet
        peak = self.ceiling if device.name == MEASURED or sheet is None else sheet.peak(sheet.best_dtype)
        update = 0.0 if sheet is None else update_bytes(self.parameters, "adamw", STATE_WIDTH) / sheet.bandwidth
        return min(round(self.flops / (self.seconds - update) / peak, 3), 1.0)


def update_bytes(parameters: float, optimizer: str, width: int) -> float:
    """What an optimiser moves: for every parameter it reads weight, gradient and state and writes two of them."""
    return (3 + 2 * OPTIMIZER_STATES[optimizer]) * width * parameters


@dataclass(frozen=True)
class ReachedShare:
    """A share of the peak, and the step that reached it."""

    share: float
    step: RecordedStep

    def to_json(self) -> dict[str, Any]:
        return {"bench": self.step.bench, "model": self.step.model, "accelerator": self.step.accelerator}


def reached_share(device: Device, flops_per_token: float, without: RecordedStep | None = None) -> ReachedShare | None:
    """What the recorded step nearest to a model reached on an accelerator, or on a CPU; None if there is no record.

    `without`: a step that may not speak, so that it can be predicted from the others.
    """
    steps = [step for step in recorded_steps() if bool(step.accelerator) == device.accelerator and step != without]
    if not steps:
        return None
    nearest = min(steps, key=lambda step: abs(log(step.flops / step.tokens / flops_per_token)))
    return ReachedShare(nearest.share(device), nearest)


def recorded_steps() -> Iterator[RecordedStep]:
    """Every recorded step; records from before the ceiling was measured beside it do not count."""
    for path in sorted(RESULTS.glob("*.json")):
        bench = path.name.partition(".")[0]
        if bench in _READERS:
            found = json.loads(path.read_text(encoding="utf-8"))
            if "ceiling" in found["numbers"]:
                yield from _READERS[bench](found["numbers"], found["machine"]["accelerator"])


def _gpt_steps(numbers: dict[str, Any], accelerator: str) -> Iterator[RecordedStep]:
    for row in numbers["rows"]:
        yield RecordedStep(
            bench="gpt-step",
            model=row["model"],
            accelerator=accelerator,
            flops=row["flops"][OURS],
            tokens=row["batch"] * row["length"],
            parameters=row["parameters"],
            seconds=row["seconds"][OURS]["median"],
            ceiling=numbers["ceiling"],
        )


def _training_steps(numbers: dict[str, Any], accelerator: str) -> Iterator[RecordedStep]:
    """The compiled step where both are recorded: that is how a long training runs."""
    row = max(numbers["rows"], key=lambda row: bool(row["compiled"]))
    setting = numbers["setting"]
    yield RecordedStep(
        bench="training-step",
        model="paper-base" if setting["d_model"] == PAPER_WIDTH else "small-translator",  # on a CPU a smaller one
        accelerator=accelerator,
        flops=numbers["flops"],
        tokens=2 * setting["batch"] * setting["length"],  # source and target
        parameters=numbers["parameters"],
        seconds=row["seconds"][OURS]["median"],
        ceiling=numbers["ceiling"],
    )


_READERS = {"gpt-step": _gpt_steps, "training-step": _training_steps}
