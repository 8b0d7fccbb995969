"""Classification: a text in, one of a few labels out; the encoder of Figure 1 with a linear layer on top."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from glassformer.config.options import Schema
from glassformer.config.recipe import RunConfig, TrainConfig
from glassformer.config.values import Choice, one_of
from glassformer.data.batch import TokenBatch, texts
from glassformer.data.corpus import Corpus
from glassformer.data.examples import Example
from glassformer.data.labelled_corpus import LABELLED_OPTIONS, labelled_corpus
from glassformer.data.store import Store
from glassformer.data.texts import Texts
from glassformer.errors import ConfigError
from glassformer.losses import Loss, Sum, cross_entropy, make_loss
from glassformer.runs import Run
from glassformer.tasks.classification.confusion import class_metrics, class_scores
from glassformer.tasks.classification.labels import (
    LABELS_OPTION,
    WEIGHTS,
    class_weights,
    given_labels,
    learn_labels,
    numbered,
)
from glassformer.tasks.material import TextMaterial, learn_vocabularies, seen_in, sized
from glassformer.tasks.options import check_options
from glassformer.text import Frame, Vocabularies

POOLS = ("cls", "sep", "mean", "max")
ONE_LOGIT = "binary_cross_entropy"


@dataclass(frozen=True, kw_only=True)
class LabelledTexts(TextMaterial):
    """The material of a classifier; `validation_texts`: the texts themselves, some of which are shown."""

    task: Classification
    validation_texts: Texts


@dataclass(frozen=True, kw_only=True)
class Classification:
    """Labelled texts, framed by the special tokens that the recipe names (text.begin, text.end).

    With the loss binary_cross_entropy, two labels share one logit, that of the second; else each has its own.
    """

    labels: tuple[str, ...]
    pad: int
    frame: Frame = Frame()
    criterion: Loss = cross_entropy
    pad_to: int = 1

    name: ClassVar[str] = "classification"
    unit: ClassVar[str] = "texts"
    recordable: ClassVar[bool] = True
    options: ClassVar[Schema] = {"labels": LABELS_OPTION, "weights": WEIGHTS}
    sources: ClassVar[Mapping[str, Schema]] = LABELLED_OPTIONS
    judged: ClassVar[Mapping[str, str]] = {"loss": "less", "accuracy": "more", "f1": "more"}
    shown: ClassVar[Mapping[str, str]] = {"accuracy": "share", "f1": "share"}

    @property
    def extra_tokens(self) -> int:
        return self.frame.extra

    # --- from a recipe ---

    @classmethod
    def sketch(cls, config: RunConfig) -> RunConfig:
        check_options(config, cls.options, ("cross_entropy", "focal", ONE_LOGIT))
        head = config.model.head
        if config.model.family == "encoder-decoder" or head.kind != "classifier":
            raise ConfigError("task_head", task=cls.name, family=config.model.family, head=head.kind)
        one_of("head.pool", head.options.get("pool", "cls"), POOLS)
        return _completed(sized(config), ["0", "1"])

    @classmethod
    def begin(cls, config: RunConfig) -> LabelledTexts:
        source = labelled_corpus(config.data)
        labels = learn_labels(config, source.train)
        _check_classes(config, labels)
        vocabularies = learn_vocabularies(config, source.train.texts)
        return replace(
            cls._material(_completed(sized(config, vocabularies), labels), source, vocabularies),
            seen=seen_in(config, source.train.texts),
        )

    @classmethod
    def again(cls, run: Run) -> LabelledTexts:
        return cls._material(run.config, labelled_corpus(run.config.data), Vocabularies.open(run.folder))

    @classmethod
    def make(
        cls, config: RunConfig, vocabularies: Vocabularies, weights: Sequence[float] | None = None
    ) -> Classification:
        train, special = config.train, vocabularies.source.specials
        loss = {**train.loss.options, **({} if weights is None else {"weights": weights})}
        return cls(
            labels=tuple(given_labels(config) or ()),
            pad=special.need("pad"),
            frame=Frame.of(config, special),
            criterion=make_loss(train.loss.kind, loss),
            pad_to=train.pad_to,
        )

    @classmethod
    def _material(cls, config: RunConfig, source: Corpus[Texts], vocabularies: Vocabularies) -> LabelledTexts:
        plain = cls.make(config, vocabularies)
        classes = numbered(source.train, plain.labels, "train")
        validation = source.validation
        return LabelledTexts(
            config=config,
            task=cls.make(config, vocabularies, class_weights(config, classes, len(plain.labels))),
            training=plain.encode(source.train, "train", config, vocabularies),
            validation=plain.encode(validation, "validation", config, vocabularies) if len(validation) else None,
            vocabularies=vocabularies,
            validation_texts=validation,
        )

    def encode(self, some: Texts, split: str, config: RunConfig, vocabularies: Vocabularies) -> Store:
        """Texts as tokens, each with its class. A text that is too long loses its end, in evaluation as in training."""
        room, tokens = self.frame.room(config), vocabularies.source.encode_batch(some.texts)
        classes = numbered(some, self.labels, split)
        return Store.of({"text": [ids[:room] for ids in tokens], "label": [[one] for one in classes]})

    # --- in training ---

    def collate(self, examples: Sequence[Example], random: np.random.Generator | None = None) -> TokenBatch:
        return texts(
            [tokens for tokens, _ in examples],
            np.array([label[0] for _, label in examples], dtype=np.int64),
            padding=self.pad,
            frame=self.frame,
            pad_to=self.pad_to,
        )

    def loss(self, model: nn.Module, batch: TokenBatch) -> Sum:
        return self.criterion(model(batch.tokens, batch.mask), batch.targets)

    def logits(self, model: nn.Module, batch: TokenBatch) -> Float[Tensor, "b classes"]:
        """One logit for each label: a single logit z becomes (0, z)."""
        logits = model(batch.tokens, batch.mask)  # b classes
        return F.pad(logits, (1, 0)) if logits.shape[1] == 1 else logits

    def scores(self, model: nn.Module, batch: TokenBatch) -> dict[str, Sum]:
        """loss: nats per text, unweighted; confusion: the confusion matrix."""
        return class_scores(self.logits(model, batch), batch.targets)

    def metrics(self, sums: Mapping[str, Sum]) -> dict[str, float]:
        return class_metrics(sums)

    def with_loss(self, loss: Loss) -> Classification:
        return replace(self, criterion=loss)

    def of_one_size(self, config: TrainConfig, longest: int | None) -> Classification:
        return self


def _completed(config: RunConfig, labels: Sequence[str]) -> RunConfig:
    classes = 1 if config.train.loss.kind == ONE_LOGIT else len(labels)
    head = Choice(config.model.head.kind, {**config.model.head.options, "classes": classes})
    task = Choice(config.task.kind, {**config.task.options, "labels": list(labels)})
    return replace(config, task=task, model=replace(config.model, head=head))


def _check_classes(config: RunConfig, labels: Sequence[str]) -> None:
    """The number of classes in the recipe, if given, must be that of the data."""
    classes = 1 if config.train.loss.kind == ONE_LOGIT else len(labels)
    named = ", ".join(labels)
    if classes == 1 and len(labels) != 2:
        raise ConfigError("binary_labels", loss=ONE_LOGIT, count=len(labels), labels=named)
    given = config.model.head.options.get("classes", classes)
    if given != classes:
        raise ConfigError("classes_differ", given=given, classes=classes, labels=named)
