"""Which class a trained classifier takes for which, counted on its validation examples: a picture of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import nn

from glassformer.data.examples import Examples
from glassformer.losses import Sum
from glassformer.tasks.task import added

MOST_CLASSES = 40  # more cannot be told apart in a picture
MOST_EXAMPLES = 5000  # the first so many
AT_ONCE = 64


@dataclass(frozen=True)
class ConfusionTable:
    """How often each class was taken for each: true × said."""

    labels: list[str]
    counts: list[list[int]]


class Labelled(Protocol):
    """The material of a classifier, of texts or of images."""

    @property
    def task(self) -> Any: ...
    @property
    def validation(self) -> Examples | None: ...


@torch.no_grad()
def confusion_matrix(material: Labelled, model: nn.Module) -> ConfusionTable | None:
    """Added up by the task's own scores; None without examples, or for more classes than can be drawn."""
    store, task = material.validation, material.task
    if store is None or len(task.labels) > MOST_CLASSES:
        return None
    sums: dict[str, Sum] = {}
    for first in range(0, min(len(store), MOST_EXAMPLES), AT_ONCE):
        batch = task.collate([store[i] for i in range(first, min(first + AT_ONCE, len(store)))])
        sums = added(sums, task.scores(model, batch))
    return ConfusionTable(list(task.labels), sums["confusion"].total.long().tolist())
