"""The share of right answers, with its interval."""

from __future__ import annotations

from numpy.typing import ArrayLike

from glassformer.metrics.interval import Proportion, wilson
from glassformer.metrics.labels import label_pair


def accuracy(predicted: ArrayLike, true: ArrayLike) -> Proportion:
    """How many labels are right. Beside it belongs the share of the most frequent class: what guessing would give."""
    first, second = label_pair("accuracy", predicted, true)
    return wilson(int((first == second).sum()), len(first))
