"""What all tasks on canvases share: their material, what a recipe must say about the model, and the loss of answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from glassformer.config.recipe import RunConfig
from glassformer.config.table import ConfigTable, checked
from glassformer.config.values import Choice, not_negative
from glassformer.data.canvases import CLASSES, CanvasPlan
from glassformer.data.examples import Examples
from glassformer.errors import ConfigError
from glassformer.layers.head.objects import SIDES, ObjectsHead
from glassformer.losses import Loss, make_loss
from glassformer.metrics.boxes import overlap
from glassformer.models.check import all_options
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


@dataclass(frozen=True, kw_only=True)
class LossWeights(ConfigTable):
    """The weights of the parts of the loss; the defaults are DETR's, which has no loss of patches."""

    nothing: float = 0.1
    l1: float = 5.0
    giou: float = 2.0
    patches: float = checked(0.0, not_negative)


def with_nothing(loss: Choice, weight: float) -> Loss:
    """The loss of a recipe over all classes and "nothing", which weighs less because most answers are "nothing"."""
    return make_loss(loss.kind, {**loss.options, "weights": [1.0] * CLASSES + [weight]})


@dataclass(frozen=True, kw_only=True)
class PatchLoss:
    r"""What the encoder alone says of each patch, as a second loss: the object whose centre lies there, or nothing.

        L = weight · (Σ_n CE(patch n) + Σ_i λ_1 |b_i − b̂_n|₁ + λ_g (1 − GIoU(b_i, b̂_n))),   n: where centre i lies

    The same head reads the memory here and the answers elsewhere, so the model stays as it is. A patch has its place,
    so nothing is matched. Without this loss the patches learn only through cross-attention, which must know what they
    say in order to learn where to look (Zhu et al. 2021 train their encoder in such a way too).
    """

    weight: float
    criterion: Loss
    l1: float
    giou: float
    class_tokens: int = 0

    @classmethod
    def of(cls, config: RunConfig, weights: LossWeights) -> PatchLoss | None:
        """None if the recipe wants none."""
        if not weights.patches:
            return None
        return cls(
            weight=weights.patches,
            criterion=with_nothing(config.train.loss, weights.nothing),
            l1=weights.l1,
            giou=weights.giou,
            class_tokens=int(all_options("input", config.model.input)["class_tokens"]),
        )

    def __call__(
        self, y: Float[Tensor, "b s k"], labels: Int[Tensor, "b m"], boxes: Float[Tensor, "b m 4"]
    ) -> Float[Tensor, ""]:
        """A label below 0 means no object; no shape depends on how many there are."""
        (logits, drawn), real = ObjectsHead.split(y[:, self.class_tokens :]), labels >= 0  # b n …, b m
        count = logits.shape[1]
        column, row = (boxes[..., :2] * math.isqrt(count)).long().unbind(-1)  # b m
        at = torch.where(real, row * math.isqrt(count) + column, count)  # b m; no object: behind all patches
        wanted = labels.new_full((len(y), count + 1), logits.shape[2] - 1)  # b n+1: "nothing"
        of_classes = self.criterion(logits, wanted.scatter(1, at, labels)[:, :count]).total
        found = drawn.gather(1, at.clamp(max=count - 1)[..., None].expand(-1, -1, SIDES))  # b m 4
        ours, theirs = (torch.where(real[..., None], each, 0.5).flatten(0, 1) for each in (found, boxes))  # b·m 4
        return self.weight * answer_loss(of_classes, ours, theirs, l1=self.l1, giou=self.giou)


def answer_loss(
    of_classes: Float[Tensor, ""], ours: Float[Tensor, "n 4"], theirs: Float[Tensor, "n 4"], *, l1: float, giou: float
) -> Float[Tensor, ""]:
    r"""The loss of answers that are a class and a box (Carion et al. 2020).

        L = Σ CE + Σ_i λ_1 |b_i − b̂_i|₁ + λ_g (1 − GIoU(b_i, b̂_i))

    The distance weighs an error of a large box like the same error of a small one; the overlap evens that out.
    """
    distance, (_, fit) = (ours - theirs).abs().sum(), overlap(ours, theirs)
    return of_classes + l1 * distance + giou * (1 - fit).sum()
