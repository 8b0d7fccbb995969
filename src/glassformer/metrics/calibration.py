"""Whether a model that says 80 % is right in 80 % of those cases: the expected calibration error and its bins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from glassformer.errors import InputError
from glassformer.metrics.labels import check_labels


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
    """The error and the bins that have answers in them, for the picture."""

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
    wrong = given[~((given >= 0) & (given <= 1 + 1e-6))]  # NaN is neither
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
