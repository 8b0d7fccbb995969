"""How good a classifier is on a split: accuracy, calibration, and which classes it confuses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from glassformer.data.batch import ArrayBatch
from glassformer.data.examples import Example, Examples
from glassformer.data.labelled_corpus import labelled_corpus
from glassformer.loading import Loaded
from glassformer.metrics.classification import (
    F1,
    Calibration,
    Confused,
    accuracy,
    calibration,
    confusion,
    f1,
    most_confused,
)
from glassformer.metrics.interval import Proportion
from glassformer.show import Column, Sheet, Table
from glassformer.tasks.classification.task import Classification
from glassformer.tasks.result import Evaluation, EvaluationOptions, Groups, computed, number_columns, percent
from glassformer.tasks.task import AT_ONCE
from glassformer.words import say

MOST_LABELS = 12  # more do not fit side by side
SHARES = ("accuracy", "majority", "f1", "calibration")
DROPPED = {"calibration": 1, "majority": 2}


class ClassifyingTask(Protocol):
    """What a classifying task provides."""

    @property
    def labels(self) -> tuple[str, ...]: ...
    @property
    def unit(self) -> str: ...
    def collate(self, examples: Sequence[Example]) -> Any: ...
    def logits(self, model: nn.Module, batch: Any) -> Tensor:
        """One logit for each label."""


@dataclass(frozen=True)
class Guesses:
    """The probability of every class for every example, n × classes, and the true class of each."""

    probabilities: NDArray[np.float64]
    true: NDArray[np.int64]

    @classmethod
    def empty(cls, examples: int, classes: int) -> Guesses:
        return cls(np.zeros((examples, classes)), np.zeros(examples, dtype=np.int64))

    @property
    def said(self) -> NDArray[np.int64]:
        return self.probabilities.argmax(axis=1)


@dataclass(frozen=True)
class ClassificationScores:
    """The scores of some guesses. `majority`: the share of the most frequent class, which needs no model."""

    examples: int
    accuracy: Proportion
    majority: float
    f1: F1
    calibration: Calibration
    loss: float  # nats per example
    confusion: NDArray[np.int64]  # true × predicted

    @classmethod
    def of(cls, guesses: Guesses) -> ClassificationScores:
        matrix = confusion(guesses.said, guesses.true, guesses.probabilities.shape[1])
        of_the_true = guesses.probabilities[np.arange(len(guesses.true)), guesses.true]
        return cls(
            examples=len(guesses.true),
            accuracy=accuracy(guesses.said, guesses.true),
            majority=float(matrix.sum(axis=1).max() / matrix.sum()),
            f1=f1(matrix),
            calibration=calibration(guesses.probabilities, guesses.true),
            loss=float(-np.log(np.maximum(of_the_true, np.finfo(np.float64).tiny)).mean()),
            confusion=matrix,
        )

    @property
    def most_confused(self) -> list[Confused]:
        return most_confused(self.confusion)

    def to_json(self) -> dict[str, Any]:
        """The values by name, then the interval, the classes and the bins under `details`."""
        each = {key: getattr(self.f1, key).tolist() for key in ("precision", "recall", "f1")}
        return {
            "accuracy": self.accuracy.value,
            "majority": self.majority,
            "f1": self.f1.macro,
            "f1_weighted": self.f1.weighted,
            "calibration_error": self.calibration.error,
            "loss": self.loss,
            "examples": self.examples,
            "confusion": self.confusion.tolist(),
            "details": {"accuracy": asdict(self.accuracy), "calibration": asdict(self.calibration), "classes": each},
        }


@dataclass(frozen=True, kw_only=True, repr=False)
class ClassificationEvaluation(Evaluation[ClassificationScores]):
    """See `Evaluation`. `unit`: what is classified, a key of [units] in words/."""

    labels: tuple[str, ...]
    unit: str

    def to_json(self) -> dict[str, Any]:
        confused = [
            {"true": self.labels[one.true], "said": self.labels[one.predicted], "count": one.count, "share": one.share}
            for one in self.total.most_confused
        ]
        about = {"labels": list(self.labels), "most_confused": confused}
        return {**self.total.to_json(), **about, **self.where, **self.by_group}

    def shown(self, lang: str | None = None) -> Sheet:
        """A line for each group, one for each label, and the confusion matrix."""
        columns = [
            Column(say("classes.group", lang), "name"),
            Column(say(f"units.many.{self.unit}", lang), "number"),
            *(Column(say(f"classes.{key}", lang), "number", DROPPED.get(key, 0)) for key in SHARES),
            Column(say(f"units.loss.{self.unit}", lang), "number"),
        ]
        confusion = [self._confusion(lang)] if len(self.labels) <= MOST_LABELS else []
        return Sheet(self.table(columns, _cells, lang), self._by_label(lang), *confusion, *self.notes(lang))

    def notes(self, lang: str | None) -> list[str]:
        """The pairs confused most often, what the numbers mean, and how often the split was read."""
        confused = [
            say("classes.confused", lang, true=self.labels[one.true], said=self.labels[one.predicted], count=one.count)
            for one in self.total.most_confused
        ]
        return [*confused, say("classes.about", lang), *self.reading_notes(lang)]

    def _by_label(self, lang: str | None) -> Table:
        shares = [say(f"classes.{key}", lang) for key in ("precision", "recall", "f1")]
        titles = [say("classes.label", lang), say(f"units.many.{self.unit}", lang), *shares]
        table = Table(*number_columns(titles, str), lang=lang)
        scores, counts = self.total.f1, self.total.confusion.sum(axis=1)
        for i, name in enumerate(self.labels):
            values = (scores.precision[i], scores.recall[i], scores.f1[i])
            table.add(name, f"{counts[i]:,}", *(f"{100 * value:.2f}" for value in values))
        return table

    def _confusion(self, lang: str | None) -> Table:
        table = Table(*number_columns([say("classes.matrix", lang), *self.labels], str), lang=lang)
        for name, row in zip(self.labels, self.total.confusion.tolist(), strict=True):
            table.add(name, *(f"{count:,}" for count in row))
        return table


def _cells(scores: ClassificationScores) -> list[str]:
    return [
        f"{scores.examples:,}",
        percent(scores.accuracy, 2),
        f"{100 * scores.majority:.2f}",
        f"{100 * scores.f1.macro:.2f}",
        f"{100 * scores.calibration.error:.2f}",
        f"{scores.loss:.4f}",
    ]


def evaluate_classification(loaded: Loaded, split: str, options: EvaluationOptions) -> ClassificationEvaluation:
    """Classify the texts of a split and score the answers; groups as in `evaluate_translation`."""
    groups = Groups.of(loaded, split, labelled_corpus(loaded.config.data).split(split))
    task = Classification.make(loaded.config, loaded.vocabularies)
    stores = {name: task.encode(some, split, loaded.config, loaded.vocabularies) for name, some in groups.every.items()}
    return judge_classes(loaded, split, task, Groups(stores), options)


def judge_classes(
    loaded: Loaded, split: str, task: ClassifyingTask, stores: Groups[Any], options: EvaluationOptions
) -> ClassificationEvaluation:
    """The scores of a classifier, of texts or of images."""
    guesses = _guesses(loaded, task, stores.every, options)
    main = [guesses[name] for name in stores.main]
    probabilities = np.concatenate([one.probabilities for one in main])
    return ClassificationEvaluation(
        folder=loaded.folder,
        checkpoint=loaded.checkpoint.name,
        split=split,
        total=ClassificationScores.of(Guesses(probabilities, np.concatenate([one.true for one in main]))),
        groups={name: ClassificationScores.of(one) for name, one in guesses.items()},
        apart=stores.apart,
        hypotheses={name: [task.labels[i] for i in one.said] for name, one in guesses.items()},
        labels=task.labels,
        unit=task.unit,
    )


@torch.no_grad()
def _guesses(
    loaded: Loaded, task: ClassifyingTask, stores: Mapping[str, Examples], options: EvaluationOptions
) -> dict[str, Guesses]:
    """Batches hold examples of similar length; probabilities are computed in float64."""
    found = {name: Guesses.empty(len(store), len(task.labels)) for name, store in stores.items()}
    orders = {name: np.argsort(store.lengths[:, 0], kind="stable").tolist() for name, store in stores.items()}

    def guess(name: str, rows: list[int]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        batch = task.collate([stores[name][i] for i in rows])
        given = replace(batch, inputs=batch.inputs.to(loaded.dtype)) if isinstance(batch, ArrayBatch) else batch
        logits = task.logits(loaded.model, given.to(loaded.device))
        return logits.double().softmax(-1).cpu().numpy(), batch.targets.numpy()

    for name, rows, (probabilities, true) in computed(orders, AT_ONCE, options, guess):
        found[name].probabilities[rows], found[name].true[rows] = probabilities, true
    return found
