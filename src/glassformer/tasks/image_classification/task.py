"""Image classification: an image in, one of a few labels out; patches take the place of words (ViT)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor, nn

from glassformer.config.options import Option, Schema, complete
from glassformer.config.recipe import RunConfig, TrainConfig
from glassformer.config.values import Choice, anything, not_negative, one_of, rate, size
from glassformer.data.augment import Augmentation, augmented, mixup
from glassformer.data.batch import ArrayBatch
from glassformer.data.corpus import Corpus
from glassformer.data.examples import Arrays, Example
from glassformer.data.picture import RESAMPLING, statistic
from glassformer.data.picture_corpus import PICTURES_OPTIONS, Wanted, picture_corpus
from glassformer.data.pictures import WHITE, Pictures
from glassformer.errors import ConfigError, InputError
from glassformer.losses import Loss, Sum, cross_entropy, make_loss
from glassformer.models.check import input_positions
from glassformer.runs import Run
from glassformer.tasks.classification.confusion import class_metrics, class_scores
from glassformer.tasks.classification.labels import LABELS_OPTION, given_labels
from glassformer.tasks.image_classification.labels import learn_labels, numbered
from glassformer.tasks.options import check_options

STATISTICS = ("mean", "std")
OPTIONS: Schema = {
    "labels": LABELS_OPTION,
    **dict.fromkeys(STATISTICS, Option(None, anything)),  # checked by `statistic`, which knows the channels
    "resample": Option("bilinear", partial(one_of, known=RESAMPLING)),
    "crop": Option(0, anything),  # checked by `read_augmentation`, which knows the size
    "flip": Option(0, rate),
    "erase": Option(0, rate),
    "mixup": Option(0, not_negative),
}


@dataclass(frozen=True, kw_only=True)
class ImageMaterial:
    """See `Material`. What was learned from the data, names and statistics, is in config.toml itself."""

    config: RunConfig
    task: ImageClassification
    training: Arrays
    validation: Arrays | None

    def fill(self, run: Run) -> None:
        """Nothing else is kept."""


@dataclass(frozen=True, kw_only=True)
class ImageClassification:
    r"""Labelled images, normalised to mean 0 and deviation 1 on the training part, channel by channel.

    x = (pixel / 255 − mean) / std
    """

    labels: tuple[str, ...]
    mean: NDArray[np.float32]  # c 1 1
    std: NDArray[np.float32]
    augmentation: Augmentation = Augmentation()
    criterion: Loss = cross_entropy

    name: ClassVar[str] = "image_classification"
    unit: ClassVar[str] = "images"
    recordable: ClassVar[bool] = True
    options: ClassVar[Schema] = OPTIONS
    sources: ClassVar[Mapping[str, Schema]] = PICTURES_OPTIONS
    judged: ClassVar[Mapping[str, str]] = {"loss": "less", "accuracy": "more", "f1": "more"}
    shown: ClassVar[Mapping[str, str]] = {"accuracy": "share", "f1": "share"}
    extra_tokens: ClassVar[int] = 0

    # --- from a recipe ---

    @classmethod
    def sketch(cls, config: RunConfig) -> RunConfig:
        check_options(config, cls.options, ("cross_entropy", "focal"))
        model = config.model
        if model.family != "encoder" or model.input.kind != "image" or model.head.kind != "classifier":
            raise ConfigError("image_model", family=model.family, input=model.input.kind, head=model.head.kind)
        if read_augmentation(config).mixup and config.train.loss.kind != "cross_entropy":
            raise ConfigError("mixup_loss", loss=config.train.loss.kind)
        channels = _channels(config)
        for key in STATISTICS:
            statistic(key, config.task.options.get(key), channels)
        return _completed(config, ["0", "1"], {"mean": [0.0] * channels, "std": [1.0] * channels})

    @classmethod
    def begin(cls, config: RunConfig) -> ImageMaterial:
        source = corpus_of(config)
        labels = learn_labels(config, source.train)
        given = config.model.head.options.get("classes", len(labels))
        if given != len(labels):
            raise ConfigError("image_classes", given=given, classes=len(labels), labels=", ".join(labels))
        named = {key: config.task.options[key] for key in STATISTICS if key in config.task.options}
        return cls._material(_completed(config, labels, statistics(source.train) | named), source)

    @classmethod
    def again(cls, run: Run) -> ImageMaterial:
        return cls._material(run.config, corpus_of(run.config))

    @classmethod
    def make(cls, config: RunConfig) -> ImageClassification:
        """From a recipe: `task = "image_classification"`, or a table with crop, flip, erase, mixup …"""
        channels, train = _channels(config), config.train
        mean, std = (statistic(key, config.task.options.get(key), channels).numpy() for key in STATISTICS)
        return cls(
            labels=tuple(given_labels(config) or ()),
            mean=mean,
            std=std,
            augmentation=read_augmentation(config),
            criterion=make_loss(train.loss.kind, train.loss.options),
        )

    @classmethod
    def _material(cls, config: RunConfig, source: Corpus[Pictures]) -> ImageMaterial:
        task, validation = cls.make(config), source.validation
        return ImageMaterial(
            config=config,
            task=task,
            training=task.encode(source.train, config),
            validation=task.encode(validation, config) if len(validation) else None,
        )

    def encode(self, pictures: Pictures, config: RunConfig) -> Arrays:
        """Images as unchanged bytes, each with its class."""
        classes = numbered(pictures, self.labels)
        return Arrays({"image": pictures.pixels, "label": classes}, input_positions(config.model) or 1)

    # --- in training ---

    def collate(self, examples: Sequence[Example], random: np.random.Generator | None = None) -> ArrayBatch:
        """With `random`, images are augmented; after mixup the targets are shares of the classes, b classes."""
        pixels = np.stack([image for image, _ in examples]).astype(np.float32)  # b c size size
        images = (pixels / np.float32(WHITE) - self.mean) / self.std
        classes = np.array([label for _, label in examples], dtype=np.int64)  # b
        if random is None:
            return ArrayBatch(torch.from_numpy(images), torch.from_numpy(classes), len(examples))
        images = augmented(self.augmentation, images, random, -self.mean / self.std)
        if not self.augmentation.mixup:
            return ArrayBatch(torch.from_numpy(np.ascontiguousarray(images)), torch.from_numpy(classes), len(examples))
        shares = np.eye(len(self.labels), dtype=np.float32)[classes]  # b classes
        images, shares = mixup(images, shares, self.augmentation.mixup, random)
        return ArrayBatch(torch.from_numpy(images), torch.from_numpy(shares), len(examples))

    def loss(self, model: nn.Module, batch: ArrayBatch) -> Sum:
        return self.criterion(self.logits(model, batch), batch.targets)

    def logits(self, model: nn.Module, batch: ArrayBatch) -> Float[Tensor, "b classes"]:
        """One logit for each label."""
        logits: Tensor = model(batch.inputs)  # b classes
        return logits

    def scores(self, model: nn.Module, batch: ArrayBatch) -> dict[str, Sum]:
        """loss: nats per image; confusion: the confusion matrix."""
        return class_scores(self.logits(model, batch).float(), batch.targets)

    def metrics(self, sums: Mapping[str, Sum]) -> dict[str, float]:
        return class_metrics(sums)

    def with_loss(self, loss: Loss) -> ImageClassification:
        return replace(self, criterion=loss)

    def of_one_size(self, config: TrainConfig, longest: int | None) -> ImageClassification:
        return self


def read_augmentation(config: RunConfig) -> Augmentation:
    """`task.crop`, `task.flip`, `task.erase` and `task.mixup` of a recipe; by default nothing is changed."""
    chosen = complete("task", config.task, OPTIONS)
    return Augmentation(
        crop=size("task.crop", chosen["crop"], low=0, high=_size(config)),
        flip=float(chosen["flip"]),
        erase=float(chosen["erase"]),
        mixup=float(chosen["mixup"]),
    )


def statistics(training: Pictures) -> dict[str, list[float]]:
    """Mean and standard deviation of every channel, 0 … 1, over all pixels of the training part."""
    levels = np.arange(WHITE + 1) / WHITE
    counts = [np.bincount(channel.ravel(), minlength=WHITE + 1) for channel in training.pixels.swapaxes(0, 1)]
    mean = [float(count @ levels / count.sum()) for count in counts]
    std = [float(np.sqrt(count @ (levels - m) ** 2 / count.sum())) for count, m in zip(counts, mean, strict=True)]
    if min(std) == 0:
        raise InputError("picture_constant", origin=training.origin, channel=std.index(0.0) + 1)
    return {"mean": mean, "std": std}


def _size(config: RunConfig) -> int:
    return size("input.size", config.model.input.options.get("size"))


def _channels(config: RunConfig) -> int:
    return size("input.channels", config.model.input.options.get("channels", 3))


def corpus_of(config: RunConfig) -> Corpus[Pictures]:
    """The images that a recipe names, as its model takes them."""
    resample = str(config.task.options.get("resample", OPTIONS["resample"].default))
    return picture_corpus(Wanted(config.data, _size(config), _channels(config), resample))


def _completed(config: RunConfig, labels: Sequence[str], learned: Mapping[str, Any]) -> RunConfig:
    head = Choice(config.model.head.kind, {**config.model.head.options, "classes": len(labels)})
    task = Choice(config.task.kind, {**config.task.options, "labels": list(labels), **learned})
    return replace(config, task=task, model=replace(config.model, head=head))
