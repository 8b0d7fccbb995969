"""What counts as a list of labels: whole numbers from 0, as many as there are answers."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from glassformer.errors import InputError


def label_pair(metric: str, predicted: ArrayLike, true: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Both lists, flat and of one length."""
    first, second = np.asarray(predicted), np.asarray(true)
    if first.shape != second.shape:
        raise InputError("metric_shapes", metric=metric, first=first.shape, second=second.shape)
    if not first.size:
        raise InputError("metric_nothing", metric=metric)
    return first.ravel().astype(np.int64), second.ravel().astype(np.int64)


def check_labels(metric: str, labels: NDArray[np.int64], classes: int) -> None:
    """Every label is one of 0 … classes - 1."""
    wrong = labels[(labels < 0) | (labels >= classes)]
    if wrong.size:
        raise InputError("metric_label", metric=metric, value=int(wrong[0]), last=classes - 1)
