"""Precision, recall and F₁ for each class, and their means: what accuracy hides when classes are of unequal size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class F1:
    """One value per class, the plain mean over those that occur (macro), and the mean by how often they do."""

    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    f1: NDArray[np.float64]
    macro: float
    weighted: float


def f1(matrix: NDArray[np.int64]) -> F1:
    r"""From a confusion matrix, true × predicted.

        precision = hits / predicted     recall = hits / true     F₁ = 2 · hits / (predicted + true)

    A class that is neither there nor predicted has 0 and is left out of the means, as scikit-learn has it. The F₁ over
    all decisions together (micro) is the accuracy, and therefore not repeated here.
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
