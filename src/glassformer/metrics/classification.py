"""How good a classifier is: accuracy, F₁, the confusion matrix, and whether its probabilities can be trusted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from glassformer.errors import InputError
from glassformer.metrics.interval import Proportion, wilson


def label_pair(metric: str, predicted: ArrayLike, true: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Both lists as flat arrays of the same length."""
    first, second = np.asarray(predicted), np.asarray(true)
    if first.shape != second.shape:
        raise InputError("metric_shapes", metric=metric, first=first.shape, second=second.shape)
    if not first.size:
        raise InputError("metric_nothing", metric=metric)
    return first.ravel().astype(np.int64), second.ravel().astype(np.int64)


def check_labels(metric: str, labels: NDArray[np.int64], classes: int) -> None:
    """Raises unless every label is one of 0 … classes - 1."""
    wrong = labels[(labels < 0) | (labels >= classes)]
    if wrong.size:
        raise InputError("metric_label", metric=metric, value=int(wrong[0]), last=classes - 1)


def accuracy(predicted: ArrayLike, true: ArrayLike) -> Proportion:
    """How many labels are right. Compare it with the share of the most frequent class, which needs no model."""
    first, second = label_pair("accuracy", predicted, true)
    return wilson(int((first == second).sum()), len(first))


@dataclass(frozen=True)
class ConfusionTable:
    """How often each true class (row) was predicted as each class (column)."""

    labels: list[str]
    counts: list[list[int]]


@dataclass(frozen=True)
class Confused:
    """A class predicted as another: how often, and as a share of that class."""

    true: int
    predicted: int
    count: int
    share: float


def confusion(predicted: ArrayLike, true: ArrayLike, classes: int) -> NDArray[np.int64]:
    """Counts, true × predicted: the diagonal is right, the sum of a row is how often that class occurs."""
    first, second = label_pair("confusion", predicted, true)
    check_labels("confusion", first, classes)
    check_labels("confusion", second, classes)
    matrix = np.zeros((classes, classes), dtype=np.int64)
    np.add.at(matrix, (second, first), 1)
    return matrix


def most_confused(matrix: NDArray[np.int64], number: int = 5) -> list[Confused]:
    """The largest counts off the diagonal, most frequent first; ties in the order of the classes."""
    wrong = matrix.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:number]
    places = zip(*np.unravel_index(order, wrong.shape), strict=True)
    totals = matrix.sum(axis=1)
    return [
        Confused(int(t), int(p), int(wrong[t, p]), float(wrong[t, p] / totals[t])) for t, p in places if wrong[t, p]
    ]


@dataclass(frozen=True)
class F1:
    """One value per class, the plain mean over classes that occur (macro), and the mean weighted by frequency."""

    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    f1: NDArray[np.float64]
    macro: float
    weighted: float


def f1(matrix: NDArray[np.int64]) -> F1:
    r"""From a confusion matrix, true × predicted.

        precision = hits / predicted     recall = hits / true     F₁ = 2 · hits / (predicted + true)

    A class that neither occurs nor is predicted has 0 and is left out of the means, as in scikit-learn. The F₁ over all
    decisions together (micro) is the accuracy, and therefore not repeated here.
    """
    hits = np.diag(matrix).astype(np.float64)
    predicted, true = matrix.sum(axis=0), matrix.sum(axis=1)
    each = _shares(2 * hits, predicted + true)
    weighted = float((each * true).sum() / max(int(true.sum()), 1))
    occurs = predicted + true > 0
    macro = float(each[occurs].mean()) if occurs.any() else 0.0
    return F1(_shares(hits, predicted), _shares(hits, true), each, macro, weighted)


def _shares(part: NDArray[np.float64], whole: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)


@dataclass(frozen=True)
class Bin:
    """The answers whose confidence lies in (low, high]."""

    low: float
    high: float
    confidence: float
    accuracy: float
    count: int


@dataclass(frozen=True)
class Calibration:
    """The error, and the bins that are not empty, for the picture."""

    error: float
    bins: list[Bin]


def calibration(probabilities: ArrayLike, labels: ArrayLike, bins: int = 15) -> Calibration:
    r"""Expected calibration error (Naeini et al. 2015; Guo et al. 2017) of the most probable class.

        ECE = Σ_b |b|/n · |accuracy(b) - confidence(b)|

    Probabilities are n × classes; bins of equal width, 15 as in Guo et al.
    """
    given, true = np.asarray(probabilities, dtype=np.float64), np.asarray(labels).astype(np.int64)
    if given.ndim != 2 or true.shape != given.shape[:1]:
        raise InputError("metric_shapes", metric="calibration", first=given.shape, second=true.shape)
    if not given.size:
        raise InputError("metric_nothing", metric="calibration")
    wrong = given[~((given >= 0) & (given <= 1 + 1e-6))]  # NaN fails both
    if wrong.size:
        raise InputError("metric_probabilities", metric="calibration", value=float(wrong[0]))
    check_labels("calibration", true, given.shape[1])
    confidence, right = given.max(axis=1), given.argmax(axis=1) == true
    place = np.clip(np.ceil(confidence * bins).astype(int) - 1, 0, bins - 1)
    found = []
    for number in range(bins):
        inside = place == number
        if inside.any():
            sure, hit = float(confidence[inside].mean()), float(right[inside].mean())
            found.append(Bin(number / bins, (number + 1) / bins, sure, hit, int(inside.sum())))
    error = sum(each.count * abs(each.accuracy - each.confidence) for each in found) / len(true)
    return Calibration(error, found)
