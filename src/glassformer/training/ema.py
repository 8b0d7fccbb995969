"""A moving average of the weights: smoother than the weights themselves, and often better in evaluation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class MovingAverage:
    r"""Exponential moving average (Polyak & Juditsky 1992).

        a ← d·a + (1 − d)·w,     d = min(decay, (1 + n) / (10 + n)) at update n

    The second form lets the average move away from its start quickly. Training never sees it; evaluation uses it.
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.decay = decay
        self.updates = 0
        self.live = dict(model.named_parameters())
        self.average = {name: parameter.detach().clone() for name, parameter in self.live.items()}

    @torch.no_grad()
    def update(self) -> None:
        decay = min(self.decay, (1 + self.updates) / (10 + self.updates))
        torch._foreach_lerp_(list(self.average.values()), list(self.live.values()), 1.0 - decay)
        self.updates += 1

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Inside, the model holds the averaged weights."""
        self._exchange()
        try:
            yield
        finally:
            self._exchange()

    @torch.no_grad()
    def _exchange(self) -> None:
        for name, parameter in self.live.items():
            kept = parameter.detach().clone()
            parameter.copy_(self.average[name])
            self.average[name].copy_(kept)

    def load(self, tensors: Mapping[str, Tensor], updates: int) -> None:
        self.updates = updates
        for name, value in self.average.items():
            value.copy_(tensors[name])
