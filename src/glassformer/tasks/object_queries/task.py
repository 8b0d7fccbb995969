"""Finding things: learned queries look at the patches of an image and say what is there and where, all at once.

Cross-attention beyond translation: the decoder of Figure 1, with learned vectors instead of words as its input.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple, cast

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from glassformer.config.options import Schema
from glassformer.config.recipe import RunConfig, TrainConfig
from glassformer.data.batch import moved
from glassformer.data.canvases import DARKEST, KIND, PLANNED, CanvasPlan
from glassformer.data.examples import Example
from glassformer.errors import ConfigError
from glassformer.layers.head.objects import ObjectsHead
from glassformer.losses import Loss, Sum, cross_entropy
from glassformer.metrics.boxes import match_boxes, overlap
from glassformer.models.check import input_positions
from glassformer.models.encoder_decoder import EncoderDecoder
from glassformer.runs import Run
from glassformer.tasks.canvases import Canvases, LossWeights, PatchLoss, planned_canvases, with_nothing
from glassformer.tasks.object_queries.matching import SetLoss
from glassformer.tasks.options import check_options
from glassformer.tasks.task import means


@dataclass(frozen=True)
class CanvasBatch:
    """Images, and what is on each of them."""

    images: Tensor  # b 1 size size, 0 … 1
    labels: Tensor  # b m; below 0: no object
    boxes: Tensor  # b m 4
    count: int  # objects

    def to(self, device: torch.device) -> CanvasBatch:
        return moved(self, device)


class QueryAnswers(NamedTuple):
    """The answer of each query, b q, or prompt, b: its probability, its class (below 0: nothing), and its box."""

    sureness: Tensor
    said: Tensor
    boxes: Tensor


def likeliest_objects(y: Float[Tensor, "*b n"]) -> QueryAnswers:
    """The most probable of all classes and "nothing", with its probability."""
    logits, boxes = ObjectsHead.split(y)
    sureness, said = logits.softmax(-1).max(-1)  # …
    return QueryAnswers(sureness, torch.where(said == logits.shape[-1] - 1, -1, said), boxes)


@dataclass(frozen=True, kw_only=True)
class ObjectQueries:
    """Digits on a canvas. The weights are those of the parts of the loss: see `SetLoss` and `PatchLoss`."""

    criterion: Loss = cross_entropy
    l1: float = LossWeights.l1
    giou: float = LossWeights.giou
    patches: PatchLoss | None = None

    name: ClassVar[str] = "object_queries"
    unit: ClassVar[str] = "objects"
    recordable: ClassVar[bool] = False  # the matching is computed by the host
    options: ClassVar[Schema] = LossWeights.schema()
    sources: ClassVar[Mapping[str, Schema]] = {KIND: PLANNED}
    judged: ClassVar[Mapping[str, str]] = {
        "loss": "less",
        "found": "more",
        "box_overlap": "more",
        "false_alarms": "less",
    }
    shown: ClassVar[Mapping[str, str]] = {"found": "share", "box_overlap": "share"}
    extra_tokens: ClassVar[int] = 0

    # --- from a recipe ---

    @classmethod
    def sketch(cls, config: RunConfig) -> RunConfig:
        check_options(config, cls.options, ("cross_entropy", "focal"))
        plan, model = planned_canvases(config), config.model
        if model.queries < plan.most:
            raise ConfigError("objects_queries", queries=model.queries, most=plan.most)
        return config

    @classmethod
    def begin(cls, config: RunConfig) -> Canvases:
        cls.sketch(config)
        plan, positions = CanvasPlan.of(config.data), (input_positions(config.model) or 0) + config.model.queries
        return Canvases(
            config=config,
            task=cls.make(config),
            training=plan.examples("train", positions),
            validation=plan.examples("validation", positions) if plan.validation else None,
        )

    @classmethod
    def again(cls, run: Run) -> Canvases:
        return cls.begin(run.config)

    @classmethod
    def make(cls, config: RunConfig) -> ObjectQueries:
        """From a recipe: `task = "object_queries"`, or a table with `nothing`, `l1`, `giou`, `patches`."""
        weights, loss = LossWeights.from_choice("task", config.task), config.train.loss
        criterion = with_nothing(loss, weights.nothing)
        patches = PatchLoss.of(config, weights)
        return cls(criterion=criterion, l1=weights.l1, giou=weights.giou, patches=patches)

    # --- in training ---

    def collate(self, examples: Sequence[Example], random: np.random.Generator | None = None) -> CanvasBatch:
        images, labels, boxes = (torch.from_numpy(np.stack(field)) for field in zip(*examples, strict=True))
        return CanvasBatch(images[:, None].float() / DARKEST, labels, boxes, int((labels >= 0).sum()))

    @property
    def set_loss(self) -> SetLoss:
        return SetLoss(criterion=self.criterion, l1=self.l1, giou=self.giou)

    def loss(self, model: nn.Module, batch: CanvasBatch) -> Sum:
        if self.patches is None:
            return self.set_loss(model(batch.images), batch.labels, batch.boxes)
        reader = cast(EncoderDecoder, model)
        memory = reader.encode(batch.images)  # b s d_model
        answers = self.set_loss(reader.decode(None, memory), batch.labels, batch.boxes)
        return Sum(answers.total + self.patches(reader.head(memory), batch.labels, batch.boxes), answers.count)

    def scores(self, model: nn.Module, batch: CanvasBatch) -> dict[str, Sum]:
        """found: right class, overlap of at least half, each object once; box_overlap: of matched boxes;

        false_alarms: answers per canvas that found nothing, or an object found by another.
        """
        y = model(batch.images)  # b q n
        said, (labels, boxes) = likeliest_objects(y), (batch.labels, batch.boxes)
        claims, matched = match_boxes(*said, labels, boxes), self.set_loss.match(y, labels, boxes)
        share, _ = overlap(said.boxes[matched.rows, matched.queries], boxes[matched.rows, matched.objects])  # n
        count, canvases = (labels >= 0).sum(), torch.tensor(len(labels), device=y.device)
        return {
            "loss": self.set_loss(y, labels, boxes),
            "found": Sum(claims.found.sum(), count),
            "box_overlap": Sum(share.sum(), count),
            "false_alarms": Sum(((said.said >= 0) & ~claims.right).sum(), canvases),
        }

    def metrics(self, sums: Mapping[str, Sum]) -> dict[str, float]:
        return means(sums)

    def with_loss(self, loss: Loss) -> ObjectQueries:
        return replace(self, criterion=loss)

    def of_one_size(self, config: TrainConfig, longest: int | None) -> ObjectQueries:
        return self
