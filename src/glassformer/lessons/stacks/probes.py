"""A linear probe: what one matrix can read from the vectors of a layer, on sentences the probe has not seen."""

from __future__ import annotations

import torch
from torch import Tensor

RIDGE = 1e-2  # × n: enough to make the matrix invertible, too little to hide anything


def probe(vectors: Tensor, labels: Tensor, other_vectors: Tensor, other_labels: Tensor) -> float:
    r"""The accuracy on the other labels of ridge regression on the first vectors.

        W = (XᵀX + λ n I)⁻¹ Xᵀ Y,     Y: the labels as one-hot rows; the answer is the largest of xW

    In closed form: nothing to tune, and no training that could stop too early.
    """
    mean, spread = vectors.mean(0), vectors.std(0) + 1e-6
    x, other = (_with_one((one.double() - mean) / spread) for one in (vectors, other_vectors))  # n d+1
    classes = int(torch.cat([labels, other_labels]).max()) + 1
    y = torch.nn.functional.one_hot(labels, classes).double()  # n classes
    ridge = RIDGE * len(x) * torch.eye(x.shape[1], dtype=x.dtype)
    weights = torch.linalg.solve(x.T @ x + ridge, x.T @ y)  # d+1 classes
    return float(((other @ weights).argmax(1) == other_labels).double().mean())


def _with_one(x: Tensor) -> Tensor:
    return torch.cat([x, torch.ones(len(x), 1, dtype=x.dtype)], 1)
