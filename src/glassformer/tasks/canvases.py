"""What all tasks on canvases share: their material, what a recipe must say about the model, and the loss of answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jaxtyping import Float
from torch import Tensor

from glassformer.config.recipe import RunConfig
from glassformer.data.canvases import CLASSES, CanvasPlan
from glassformer.data.examples import Examples
from glassformer.errors import ConfigError
from glassformer.metrics.boxes import overlap
from glassformer.runs import Run
from glassformer.tasks.options import refuse_limit
from glassformer.tasks.task import Task


@dataclass(frozen=True, kw_only=True)
class Canvases:
    """See `Material`."""

    config: RunConfig
    task: Task[Any]
    training: Examples
    validation: Examples | None

    def fill(self, run: Run) -> None:
        """Nothing was learned from the data."""


def planned_canvases(config: RunConfig) -> CanvasPlan:
    """The canvases of a recipe; raises unless its model takes such images and has a head for these digits."""
    refuse_limit(config, "data.source.count")
    plan, model = CanvasPlan.of(config.data), config.model
    shape = {"size": plan.size, "channels": 1}
    given = {key: model.input.options.get(key) for key in shape}
    if model.input.kind != "image" or given != shape:
        raise ConfigError("objects_input", size=plan.size, input=model.input.kind, given=given)
    if (model.head.kind, model.head.options.get("classes")) != ("objects", CLASSES):
        raise ConfigError("objects_head", task=config.task.kind, head=model.head.kind, classes=CLASSES)
    return plan


def answer_loss(
    of_classes: Float[Tensor, ""], ours: Float[Tensor, "n 4"], theirs: Float[Tensor, "n 4"], *, l1: float, giou: float
) -> Float[Tensor, ""]:
    r"""The loss of answers that are a class and a box (Carion et al. 2020).

        L = Σ CE + Σ_i λ_1 |b_i − b̂_i|₁ + λ_g (1 − GIoU(b_i, b̂_i))

    The distance weighs an error of a large box like the same error of a small one; the overlap evens that out.
    """
    distance, (_, fit) = (ours - theirs).abs().sum(), overlap(ours, theirs)
    return of_classes + l1 * distance + giou * (1 - fit).sum()
