"""The confusion matrix: the scores of a classifier in training, and a table for the chapter of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from glassformer.data.examples import Examples
from glassformer.losses import Sum, cross_entropy
from glassformer.metrics.classification import ConfusionTable, f1
from glassformer.tasks.task import AT_ONCE, added, means

MOST_CLASSES = 40  # more cannot be told apart in a picture
MOST_EXAMPLES = 5000  # only the first ones are used


def class_scores(logits: Float[Tensor, "b classes"], targets: Int[Tensor, " b"]) -> dict[str, Sum]:
    """loss: nats per example, unweighted; confusion: the confusion matrix, true × predicted."""
    true, said = (F.one_hot(classes, logits.shape[1]).double() for classes in (targets, logits.argmax(-1)))  # b classes
    count = torch.tensor(len(targets), device=logits.device)
    return {"loss": cross_entropy(logits, targets), "confusion": Sum(true.T @ said, count)}


def class_metrics(sums: Mapping[str, Sum]) -> dict[str, float]:
    """The metrics of both kinds of classifiers."""
    matrix = sums["confusion"].total.long().cpu().numpy()  # classes × classes
    right = {"accuracy": float(np.trace(matrix) / matrix.sum()), "f1": f1(matrix).macro}
    return means({"loss": sums["loss"]}) | right


class Labelled(Protocol):
    """The material of a classifier, of texts or of images."""

    @property
    def task(self) -> Any: ...
    @property
    def validation(self) -> Examples | None: ...


@torch.no_grad()
def confusion_matrix(material: Labelled, model: nn.Module) -> ConfusionTable | None:
    """Summed from the task's own scores; None without examples, or with more classes than can be drawn."""
    store, task = material.validation, material.task
    if store is None or len(task.labels) > MOST_CLASSES:
        return None
    sums: dict[str, Sum] = {}
    for first in range(0, min(len(store), MOST_EXAMPLES), AT_ONCE):
        batch = task.collate([store[i] for i in range(first, min(first + AT_ONCE, len(store)))])
        sums = added(sums, task.scores(model, batch))
    return ConfusionTable(list(task.labels), sums["confusion"].total.long().tolist())
