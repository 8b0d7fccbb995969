"""A step of the training loop itself on one batch, as the benchmarks time it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from glassformer.bench.timing import PRECISIONS
from glassformer.config.model import ModelConfig
from glassformer.config.recipe import TrainConfig
from glassformer.data.batch import Batch
from glassformer.models.block import recompute
from glassformer.models.build import build
from glassformer.tasks import Task
from glassformer.training.capture import WARM_UP
from glassformer.training.compile import compile_parts
from glassformer.training.meter import Meter
from glassformer.training.optimizer import make_optimizer
from glassformer.training.precision import LossScale
from glassformer.training.step import Stepper

FIRST_CALLS = WARM_UP + 2  # compiled where asked, captured, and replayed once
RATE = 1e-4


def our_step(
    config: ModelConfig,
    task: Task[Any],
    batch: Batch,
    train: TrainConfig,
    *,
    device: str,
    compiled: bool,
    precision: str | None = None,
    again: bool = False,
) -> Callable[[], None]:
    """As `glassformer train` takes it there: an accelerator replays captured steps, compiled or not.

    `precision`: by default that of the device; `again`: with activation checkpointing, which asks for the state of the
    random numbers, so such a step cannot be captured.
    """
    place, precision = torch.device(device), precision or PRECISIONS[device]
    model = recompute(build(config, seed=0, device=device), again).train()
    stepper = Stepper(
        model=model,
        task=compile_parts(model, task) if compiled else task,
        optimizer=make_optimizer(model, train),
        loss_scale=LossScale(precision, place),
        meter=Meter(place),
        device=place,
        precision=precision,
        clip=train.clip,
        captured=device == "cuda" and task.recordable and not again,
    )

    def step() -> None:
        stepper.take_step([batch], RATE)

    return step
