"""Events of training: frozen values that a command line shows, a notebook plots, a test reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from glassformer.errors import FileError

if TYPE_CHECKING:
    from glassformer.training.start import TakenWeights


@dataclass(frozen=True)
class Started:
    """Training starts, or resumes from a checkpoint. `leftovers`: files left by a save that was killed."""

    step: int
    steps: int
    parameters: int
    device: str
    resumed_from: Path | None
    leftovers: tuple[str, ...]


@dataclass(frozen=True)
class StartedFrom:
    """Training starts from the weights of another model."""

    start: TakenWeights


@dataclass(frozen=True)
class CheckpointRefused:
    """A checkpoint is damaged or foreign; an older one is used instead."""

    path: Path
    error: FileError
    instead: Path


@dataclass(frozen=True)
class EnvironmentChanged:
    """Resumed under other versions, threads or devices: the curve goes on, but not bit for bit."""

    differences: Mapping[str, tuple[object, object]]


@dataclass(frozen=True)
class StepDone:
    """One optimiser step, without its loss, which an accelerator may still be computing."""

    step: int
    epoch: int
    learning_rate: float
    tokens: int  # targets seen since the start


@dataclass(frozen=True)
class Logged:
    """A line of log.jsonl: means over the steps since the previous line.

    On an accelerator also the share of the time that it waited for batches, and the share of its ceiling reached.
    """

    step: int
    epoch: int
    loss: float
    learning_rate: float
    gradient_norm: float
    tokens: int
    tokens_per_second: float
    skipped: int
    elapsed: float
    waiting: float | None = None
    of_ceiling: float | None = None

    def to_json(self) -> dict[str, float]:
        """What is known."""
        return {key: value for key, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class Evaluated:
    """The metrics of an evaluation; `best`: better than all before."""

    step: int
    metrics: Mapping[str, float]
    best: bool


@dataclass(frozen=True)
class Saving:
    """A checkpoint is about to be written."""

    step: int


@dataclass(frozen=True)
class Saved:
    """A checkpoint is safe on the disk."""

    step: int
    path: Path


@dataclass(frozen=True)
class Averaged:
    """The mean of the last checkpoints was written and evaluated."""

    path: Path
    steps: tuple[int, ...]
    metrics: Mapping[str, float]


COMPLETE = ("finished", "early")  # reasons to stop that need no further training


@dataclass(frozen=True)
class Stopped:
    """The end: "finished", "early" (patience), "interrupted" (Ctrl-C) or "terminated" (SIGTERM)."""

    step: int
    reason: str


Event = (
    Started
    | StartedFrom
    | CheckpointRefused
    | EnvironmentChanged
    | StepDone
    | Logged
    | Evaluated
    | Saving
    | Saved
    | Averaged
    | Stopped
)
