"""Prompts: the decoder reads what somebody asks, looks at the patches of an image, and says what is meant and where.

Cross-attention beyond translation: a point on the image as in SAM, or a word, where Figure 1 has the words so far.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, cast

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from glassformer.config.options import Schema
from glassformer.config.recipe import RunConfig, TrainConfig
from glassformer.config.table import ConfigTable, checked
from glassformer.config.values import not_negative, one_of
from glassformer.data.batch import moved
from glassformer.data.canvases import DARKEST, KIND, PLANNED, CanvasPlan
from glassformer.data.examples import Arrays, Example
from glassformer.data.prompts import (
    CHOICES,
    FEWEST,
    LENGTH,
    PROMPT_KINDS,
    AskedPrompt,
    PromptKind,
    ask,
    vocab_size,
    worth_asking,
)
from glassformer.data.sampler import of_example
from glassformer.errors import ConfigError
from glassformer.layers.head.objects import ObjectsHead
from glassformer.losses import Loss, Sum, cross_entropy, make_loss
from glassformer.metrics.boxes import ENOUGH, overlap
from glassformer.models.check import input_positions
from glassformer.models.encoder_decoder import EncoderDecoder
from glassformer.runs import Run
from glassformer.tasks.canvases import Canvases, LossWeights, PatchLoss, answer_loss, planned_canvases
from glassformer.tasks.object_queries.task import QueryAnswers, likeliest_objects
from glassformer.tasks.options import check_options
from glassformer.tasks.task import means


@dataclass(frozen=True, kw_only=True)
class PromptOptions(ConfigTable):
    """What asks, how often a canvas is asked about in a training step, and the weights of the boxes in the loss."""

    prompt: str = checked("both", partial(one_of, known=CHOICES))
    asks: int = 4
    l1: float = LossWeights.l1
    giou: float = LossWeights.giou
    patches: float = checked(LossWeights.patches, not_negative)


@dataclass(frozen=True)
class PromptBatch:
    """Images, k prompts for each of them, the digits that these ask for, and all that are there."""

    images: Tensor  # b 1 size size, 0 … 1
    prompts: Tensor  # b k t
    labels: Tensor  # b k
    boxes: Tensor  # b k 4
    digits: Tensor  # b 1: how many there are on the canvas
    all_labels: Tensor  # b m; below 0: no digit
    all_boxes: Tensor  # b m 4
    count: int  # prompts

    def to(self, device: torch.device) -> PromptBatch:
        return moved(self, device)


@dataclass(frozen=True, kw_only=True)
class PromptedObjects:
    r"""One digit of a canvas, asked for by a prompt; the answer is read where the prompt ends.

        L = Σ_i CE(c_i) + λ_1 |b_i − b̂_i|₁ + λ_g (1 − GIoU(b_i, b̂_i))

    The prompt says which digit is meant, so nothing is matched, and no answer is "nothing". An image is encoded once
    for all of its prompts, as in SAM. Training asks `asks` times, an evaluation once in each of the `kinds`.
    """

    kinds: Mapping[str, PromptKind]
    asks: int = PromptOptions.asks
    criterion: Loss = cross_entropy
    l1: float = LossWeights.l1
    giou: float = LossWeights.giou
    patches: PatchLoss | None = None

    name: ClassVar[str] = "prompted_objects"
    unit: ClassVar[str] = "prompts"
    recordable: ClassVar[bool] = True
    options: ClassVar[Schema] = PromptOptions.schema()
    sources: ClassVar[Mapping[str, Schema]] = {KIND: PLANNED}
    judged: ClassVar[Mapping[str, str]] = {"loss": "less", "right": "more", "box_overlap": "more"}
    shown: ClassVar[Mapping[str, str]] = {"right": "share", "box_overlap": "share"}
    extra_tokens: ClassVar[int] = 0

    # --- from a recipe ---

    @classmethod
    def sketch(cls, config: RunConfig) -> RunConfig:
        check_options(config, cls.options, ("cross_entropy", "focal"))
        plan, model = planned_canvases(config), config.model
        tokens = vocab_size(plan.size)
        if plan.most < FEWEST:
            raise ConfigError("prompt_most", most=plan.most, fewest=FEWEST)
        if model.target_vocab_size != tokens:
            raise ConfigError("prompt_tokens", size=plan.size, given=model.target_vocab_size, tokens=tokens)
        if model.causal:
            raise ConfigError("prompt_causal", task=cls.name)
        return config

    @classmethod
    def begin(cls, config: RunConfig) -> Canvases:
        cls.sketch(config)
        validation = asked_canvases(config, "validation")
        return Canvases(
            config=config,
            task=cls.make(config),
            training=asked_canvases(config, "train"),
            validation=validation if len(validation) else None,
        )

    @classmethod
    def again(cls, run: Run) -> Canvases:
        return cls.begin(run.config)

    @classmethod
    def make(cls, config: RunConfig) -> PromptedObjects:
        """From a recipe: `task = { kind = "prompted_objects", prompt = "word" }`; see `PromptOptions`."""
        chosen, loss = PromptOptions.from_choice("task", config.task), config.train.loss
        criterion = make_loss(loss.kind, loss.options)
        return cls(
            kinds=_kinds(config),
            asks=chosen.asks,
            criterion=criterion,
            l1=chosen.l1,
            giou=chosen.giou,
            patches=PatchLoss.of(config, LossWeights(l1=chosen.l1, giou=chosen.giou, patches=chosen.patches)),
        )

    # --- in training ---

    def collate(self, examples: Sequence[Example], random: np.random.Generator | None = None) -> PromptBatch:
        """Every epoch asks for other digits, in other words; an evaluation always asks the same of a canvas."""
        asked = [self._ask(one, random) for one in examples]
        images, labels, boxes = (torch.from_numpy(np.stack(field)) for field in zip(*examples, strict=True))
        digits = torch.tensor([[one.digit for one in some] for some in asked])  # b k
        rows = torch.arange(len(asked))[:, None]  # b 1
        return PromptBatch(
            images=images[:, None].float() / DARKEST,
            prompts=torch.tensor([[one.tokens for one in some] for some in asked]),
            labels=labels[rows, digits],
            boxes=boxes[rows, digits],
            digits=(labels >= 0).sum(1, keepdim=True),
            all_labels=labels,
            all_boxes=boxes,
            count=digits.numel(),
        )

    def _ask(self, canvas: Example, random: np.random.Generator | None) -> list[AskedPrompt]:
        prompts = list(self.kinds.values())
        if random is None:
            fixed = of_example(canvas)
            return [ask(prompt, canvas, fixed) for prompt in prompts]
        return [ask(prompts[i], canvas, random) for i in random.integers(len(prompts), size=self.asks)]

    def answers(self, model: nn.Module, batch: PromptBatch) -> Float[Tensor, "b k n"]:
        """What the head says where each prompt ends."""
        return self._read(model, batch)[0]

    def _read(self, model: nn.Module, batch: PromptBatch) -> tuple[Tensor, Tensor]:
        """What the head says where each prompt ends, b k n, and the memory, b s d_model."""
        reader, (b, k, _) = cast(EncoderDecoder, model), batch.prompts.shape
        memory = reader.encode(batch.images)  # b s d_model
        y = reader.decode(batch.prompts.flatten(0, 1), memory.repeat_interleave(k, 0))  # b·k t n
        return y[:, -1].unflatten(0, (b, k)), memory

    def loss(self, model: nn.Module, batch: PromptBatch) -> Sum:
        y, memory = self._read(model, batch)
        answers = self._loss(y, batch)
        if self.patches is None:
            return answers
        said = cast(EncoderDecoder, model).head(memory)  # b s n
        return Sum(answers.total + self.patches(said, batch.all_labels, batch.all_boxes), answers.count)

    def _loss(self, y: Float[Tensor, "b k n"], batch: PromptBatch) -> Sum:
        logits, drawn = ObjectsHead.split(y)
        of_classes = self.criterion(logits, batch.labels)
        ours, theirs = drawn.flatten(0, 1), batch.boxes.flatten(0, 1)  # b·k 4, b·k 4
        total = answer_loss(of_classes.total, ours, theirs, l1=self.l1, giou=self.giou)
        return Sum(total, of_classes.count)

    def scores(self, model: nn.Module, batch: PromptBatch) -> dict[str, Sum]:
        """right: see `is_right`; box_overlap: with the digit that was asked for."""
        y = self.answers(model, batch)  # b k n
        found = likeliest_objects(y)
        share, _ = overlap(found.boxes, batch.boxes)  # b k
        count = torch.tensor(batch.count, device=y.device)
        return {
            "loss": self._loss(y, batch),
            "right": Sum(is_right(found, batch).sum(), count),
            "box_overlap": Sum(share.sum(), count),
        }

    def metrics(self, sums: Mapping[str, Sum]) -> dict[str, float]:
        return means(sums)

    def with_loss(self, loss: Loss) -> PromptedObjects:
        return replace(self, criterion=loss)

    def of_one_size(self, config: TrainConfig, longest: int | None) -> PromptedObjects:
        return self


def is_right(found: QueryAnswers, batch: PromptBatch) -> Tensor:
    """The class of the digit that was asked for, and an overlap with it of at least half: b k.

    Who knows all digits of a canvas and not which is meant is right once in `batch.digits` times.
    """
    share, _ = overlap(found.boxes, batch.boxes)  # b k
    return (found.said == batch.labels) & (share >= ENOUGH)


def asked_canvases(config: RunConfig, split: str) -> Arrays:
    """The canvases of a split on which prompts matter; the others are left out."""
    examples = CanvasPlan.of(config.data).examples(split, (input_positions(config.model) or 0) + LENGTH)
    return examples.select(worth_asking(_kinds(config).values(), examples.fields["labels"]))


def _kinds(config: RunConfig) -> dict[str, PromptKind]:
    chosen, size = PromptOptions.from_choice("task", config.task).prompt, CanvasPlan.of(config.data).size
    return {kind: PROMPT_KINDS[kind](size) for kind in CHOICES[chosen]}
