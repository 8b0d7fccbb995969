"""What a training loop is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import nn

from glassformer.config.recipe import RunConfig
from glassformer.data.examples import Examples
from glassformer.ranks import ALONE, Ranks
from glassformer.runs import Run
from glassformer.tasks.task import Measure, Task
from glassformer.training.start import TakenWeights


@dataclass(frozen=True, kw_only=True)
class Training:
    """What to train, on what, where. `measure` adds metrics to every evaluation, and may write samples and pictures.

    `show` only writes some, after the evaluation itself has been written down: nobody waits for them.
    """

    run: Run
    model: nn.Module
    task: Task[Any]
    training: Examples
    validation: Examples | None = None
    measure: Measure | None = None
    show: Measure | None = None
    config: RunConfig | None = None  # default: the run's own
    start: TakenWeights | None = None  # the weights that the model started from
    ranks: Ranks = ALONE

    @property
    def recipe(self) -> RunConfig:
        return self.run.config if self.config is None else self.config
