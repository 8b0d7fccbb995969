"""Which class is taken for which: the confusion matrix, and its worst pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from glassformer.metrics.labels import check_labels, label_pair


@dataclass(frozen=True)
class Confused:
    """A class taken for another: how often, and the share of that class."""

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
    """The largest counts beside the diagonal, most frequent first; ties in the order of the classes."""
    wrong = matrix.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:number]
    places = zip(*np.unravel_index(order, wrong.shape), strict=True)
    totals = matrix.sum(axis=1)
    return [
        Confused(int(t), int(p), int(wrong[t, p]), float(wrong[t, p] / totals[t])) for t, p in places if wrong[t, p]
    ]
