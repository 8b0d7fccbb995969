"""A task of one's own, as a folder of `tasks/` would hold it: is a number of ones and zeros odd or even?

It shows all that a new task needs; `PARITY` would be its line in `TASKS`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import nn

from glassformer.config.options import Schema, complete, option
from glassformer.config.recipe import RunConfig
from glassformer.data.batch import TokenBatch, texts
from glassformer.data.examples import Example
from glassformer.data.store import Store
from glassformer.decoding.step import evaluating
from glassformer.errors import Phrase
from glassformer.loading import Loaded
from glassformer.losses import Loss, Sum, cross_entropy
from glassformer.metrics.interval import Proportion, wilson
from glassformer.runs import Run
from glassformer.show import Sheet
from glassformer.tasks.kind import Kind
from glassformer.tasks.material import TextMaterial, learn_vocabularies, seen_in, sized
from glassformer.tasks.options import check_options
from glassformer.tasks.own_files import OwnFiles
from glassformer.tasks.result import Evaluation, EvaluationOptions, Groups, computed, number_columns, percent
from glassformer.tasks.samples import first_sample, write_samples
from glassformer.tasks.task import Measure, means
from glassformer.tasks.text_inputs import every_text, input_batches, text_ids
from glassformer.tasks.verbs import check_verb
from glassformer.text import Frame, Vocabularies

SAID = ("even", "odd")
SPLITS = {"train": 0, "validation": 1, "test": 2}


# --- its data ---


def ones_and_zeros(config: RunConfig, split: str) -> list[str]:
    """Different in every split, the same every time."""
    random = np.random.default_rng(SPLITS[split])
    length = complete("task", config.task, Parity.options)["length"]
    count = complete("source", config.data.source, Parity.sources["bits"])["count"]
    return ["".join(map(str, row)) for row in random.integers(0, 2, (count, length)).tolist()]


# --- what is learned ---


@dataclass(frozen=True, kw_only=True)
class Parity:
    """A text of ones and zeros, and the class of it."""

    pad: int
    frame: Frame
    criterion: Loss = cross_entropy

    name: ClassVar[str] = "parity"
    unit: ClassVar[str] = "texts"
    recordable: ClassVar[bool] = True
    options: ClassVar[Schema] = {"length": option("int", 6)}
    sources: ClassVar[Mapping[str, Schema]] = {"bits": {"count": option("int", 40)}}
    judged: ClassVar[Mapping[str, str]] = {"loss": "less", "accuracy": "more", "sampled": "more"}
    shown: ClassVar[Mapping[str, str]] = {"accuracy": "share"}

    @property
    def extra_tokens(self) -> int:
        return self.frame.extra

    @classmethod
    def sketch(cls, config: RunConfig) -> RunConfig:
        check_options(config, cls.options, ("cross_entropy",))
        return sized(config)

    @classmethod
    def begin(cls, config: RunConfig) -> TextMaterial:
        written = ones_and_zeros(config, "train")
        vocabularies = learn_vocabularies(config, written)
        return replace(cls._material(sized(config, vocabularies), vocabularies), seen=seen_in(config, written))

    @classmethod
    def again(cls, run: Run) -> TextMaterial:
        return cls._material(run.config, Vocabularies.open(run.folder))

    @classmethod
    def make(cls, config: RunConfig, vocabularies: Vocabularies) -> Parity:
        specials = vocabularies.source.specials
        return cls(pad=specials.need("pad"), frame=Frame.of(config, specials))

    @classmethod
    def _material(cls, config: RunConfig, vocabularies: Vocabularies) -> TextMaterial:
        coded = {split: encode(ones_and_zeros(config, split), vocabularies) for split in ("train", "validation")}
        return TextMaterial(
            config=config,
            task=cls.make(config, vocabularies),
            training=coded["train"],
            validation=coded["validation"],
            vocabularies=vocabularies,
        )

    def collate(self, examples: Sequence[Example], random: np.random.Generator | None = None) -> TokenBatch:
        classes = np.array([label[0] for _, label in examples], dtype=np.int64)
        return texts([tokens for tokens, _ in examples], classes, padding=self.pad, frame=self.frame, pad_to=1)

    def loss(self, model: nn.Module, batch: TokenBatch) -> Sum:
        return self.criterion(model(batch.tokens, batch.mask), batch.targets)

    def scores(self, model: nn.Module, batch: TokenBatch) -> dict[str, Sum]:
        logits = model(batch.tokens, batch.mask)  # b classes
        right = (logits.argmax(-1) == batch.targets).sum()
        return {"loss": cross_entropy(logits, batch.targets), "accuracy": Sum(right, torch.tensor(batch.count))}

    def metrics(self, sums: Mapping[str, Sum]) -> dict[str, float]:
        return means(sums)

    def with_loss(self, loss: Loss) -> Parity:
        return replace(self, criterion=loss)


def encode(written: Sequence[str], vocabularies: Vocabularies) -> Store:
    classes = [[int(text, 2) % 2] for text in written]
    return Store.of({"text": vocabularies.source.encode_batch(list(written)), "label": classes})


# --- how it is used ---


@torch.inference_mode()
def tell(loaded: Loaded, given: str | Sequence[str]) -> list[str]:
    """What the model takes each text for, in their order."""
    check_verb(loaded, "tell")
    every = every_text(given)
    found = [""] * len(every)
    with evaluating(loaded.model):
        for some in input_batches(loaded, [text_ids(loaded, text).tokens for text in every]):
            classes = loaded.model(some.tokens, some.mask).argmax(-1).tolist()
            for place, number in zip(some.places, classes, strict=True):
                found[place] = SAID[number]
    return found


# --- what its trainings keep ---


def sample_texts(run: Run, material: TextMaterial) -> Measure:
    """Every evaluation tells what the first four validation texts are."""
    few = ones_and_zeros(run.config, "validation")[:4]

    def measure(model: nn.Module, step: int) -> dict[str, float]:
        said = tell(Loaded(model, material.vocabularies, run.config, run.folder, run.folder), few)
        write_samples(run, step, [{"source": text, "translation": one} for text, one in zip(few, said, strict=True)])
        right = [one == SAID[int(text, 2) % 2] for text, one in zip(few, said, strict=True)]
        return {"sampled": sum(right) / len(right)}

    return measure


# --- how it is judged, and how that is shown ---


@dataclass(frozen=True)
class ParityScores:
    right: Proportion

    def to_json(self) -> dict[str, Any]:
        return {"accuracy": self.right.value, "texts": self.right.total}


@dataclass(frozen=True, kw_only=True, repr=False)
class ParityEvaluation(Evaluation[ParityScores]):
    def shown(self, lang: str | None = None) -> Sheet:
        columns = number_columns(("text", "count", "right"), str)
        return Sheet(
            self.table(columns, lambda one: [f"{one.right.total}", percent(one.right)], lang), *self.reading_notes(lang)
        )


def evaluate_parity(loaded: Loaded, split: str, options: EvaluationOptions) -> ParityEvaluation:
    groups = Groups.of(loaded, split, {split: ones_and_zeros(loaded.config, split)})
    orders = {name: range(len(some)) for name, some in groups.every.items()}
    said: dict[str, list[str]] = {name: [] for name in orders}

    def told(name: str, piece: list[int]) -> list[str]:
        return tell(loaded, [groups.every[name][i] for i in piece])

    for name, _, some in computed(orders, 16, options, told):
        said[name] += some
    hits = sum(one == SAID[int(text, 2) % 2] for text, one in zip(groups.every[split], said[split], strict=True))
    scores = ParityScores(wilson(hits, len(said[split])))
    return ParityEvaluation(
        folder=loaded.folder,
        checkpoint=loaded.checkpoint.name,
        split=split,
        total=scores,
        groups={split: scores},
        hypotheses=said,
    )


# --- how it takes files of one's own ---


def count_lines(path: Path) -> tuple[int, int]:
    return len(path.read_text(encoding="utf-8").split()), len(SAID)


def describe_lines(path: str, options: Any) -> Phrase:
    return Phrase("own.lines", (("path", path), ("count", count_lines(Path(path))[0])))


PARITY = Kind(
    task=Parity,
    verb="tell",
    example=first_sample,
    evaluate=evaluate_parity,
    samples=sample_texts,
    samples_judge=True,
    own=OwnFiles(recipe="own-parity", source="lines", count=count_lines, describe=describe_lines),
)
