"""How good a classifier is on a split: what is right, how sure it is of that, and what it takes for what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from glassformer.data.labelled_corpus import labelled_corpus
from glassformer.data.texts import Texts
from glassformer.errors import InputError
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
from glassformer.show import Sheet, as_html, as_text
from glassformer.tasks.classification import show
from glassformer.tasks.classification.task import Classification
from glassformer.tasks.evaluation_log import EvaluationLog
from glassformer.tasks.evaluation_options import EvaluationOptions, set_apart

TEXTS = 64  # in a batch, of like length


@dataclass(frozen=True)
class Guesses:
    """The probabilities of every class for every example, n × classes, and the class that each has."""

    probabilities: NDArray[np.float64]
    true: NDArray[np.int64]

    @property
    def said(self) -> NDArray[np.int64]:
        return self.probabilities.argmax(axis=1)


@dataclass(frozen=True)
class ClassificationScores:
    """What is known about some guesses. `majority`: the share of the most frequent class, which needs no model."""

    examples: int
    accuracy: Proportion
    majority: float
    f1: F1
    calibration: Calibration
    loss: float  # nats per example
    confusion: NDArray[np.int64]  # true × said

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


@dataclass(frozen=True, kw_only=True)
class ClassificationEvaluation:
    """The scores of a split, of each of its groups and of all together but for `apart`; see `Evaluation`."""

    folder: Path
    checkpoint: str
    split: str
    labels: tuple[str, ...]
    unit: str  # what is classified, a key of [units] in words/
    total: ClassificationScores
    groups: Mapping[str, ClassificationScores]
    apart: tuple[str, ...]
    readings: int
    hypotheses: Mapping[str, list[str]] = field(repr=False)

    def to_json(self) -> dict[str, Any]:
        confused = [
            {"true": self.labels[one.true], "said": self.labels[one.predicted], "count": one.count, "share": one.share}
            for one in self.total.most_confused
        ]
        return {
            **self.total.to_json(),
            "labels": list(self.labels),
            "most_confused": confused,
            "run": str(self.folder),
            "checkpoint": self.checkpoint,
            "split": self.split,
            "readings": self.readings,
            "groups": {name: scores.to_json() for name, scores in self.groups.items()},
            "apart": list(self.apart),
        }

    def __rich__(self) -> Sheet:
        return show.tables(self)

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(show.tables(self))


def evaluate_classification(loaded: Loaded, split: str, how: EvaluationOptions) -> ClassificationEvaluation:
    """Classify a split and score it; groups as in `evaluate_translation`."""
    readings = EvaluationLog(loaded.folder)
    found = {name: some for name, some in labelled_corpus(loaded.config.data).split(split).items() if len(some)}
    if not found:
        raise InputError("split_empty", split=split, path=loaded.folder)
    task = Classification.make(loaded.config, loaded.vocabularies)
    guesses = _guesses(loaded, task, found, split, how)
    apart = set_apart(found)
    main = [one for name, one in guesses.items() if name not in apart]
    probabilities = np.concatenate([one.probabilities for one in main])
    total = ClassificationScores.of(Guesses(probabilities, np.concatenate([one.true for one in main])))
    readings.write(split, loaded.checkpoint.name, total.to_json())
    return ClassificationEvaluation(
        folder=loaded.folder,
        checkpoint=loaded.checkpoint.name,
        split=split,
        labels=task.labels,
        unit=task.unit,
        total=total,
        groups={name: ClassificationScores.of(one) for name, one in guesses.items()},
        apart=apart,
        readings=readings.count(split),
        hypotheses={name: [task.labels[i] for i in one.said] for name, one in guesses.items()},
    )


@torch.no_grad()
def _guesses(
    loaded: Loaded, task: Classification, groups: Mapping[str, Texts], split: str, how: EvaluationOptions
) -> dict[str, Guesses]:
    """Group by group, texts of like length together; probabilities are computed in float64."""
    every, done = sum(map(len, groups.values())), 0
    found: dict[str, Guesses] = {}
    for name, some in groups.items():
        store = task.encode(some, split, loaded.config, loaded.vocabularies)
        order = np.argsort(store.lengths[:, 0], kind="stable")
        probabilities = np.zeros((len(store), len(task.labels)))
        for first in range(0, len(order), TEXTS):
            rows = order[first : first + TEXTS]
            batch = task.collate([store[i] for i in rows]).to(loaded.device)
            probabilities[rows] = task.logits(loaded.model, batch).double().softmax(-1).cpu().numpy()
            done += len(rows)
            how.progress(done, every)
        found[name] = Guesses(probabilities, np.array([store[i][1][0] for i in range(len(store))], dtype=np.int64))
    return found
