"""The seam between training and what is trained: a task knows examples, batches and losses; the loop knows none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from torch import nn

from glassformer.data.batch import Batch
from glassformer.data.store import Example
from glassformer.losses import Loss, Sum


class Task(Protocol):
    """Everything that the loop asks for."""

    @property
    def name(self) -> str: ...

    @property
    def criterion(self) -> Loss: ...

    @property
    def extra_tokens(self) -> int:
        """How many tokens a batch adds to the longest side of an example: the sampler counts them."""

    def collate(self, examples: Sequence[Example]) -> Batch:
        """Examples of a store → a batch, on the CPU."""

    def loss(self, model: nn.Module, batch: Batch) -> Sum:
        """What training makes small."""

    def scores(self, model: nn.Module, batch: Batch) -> dict[str, Sum]:
        """What validation reports, without smoothing; each is divided once, over all batches."""

    def with_loss(self, loss: Loss) -> Task:
        """The same task with another loss: a compiled one, for example."""
