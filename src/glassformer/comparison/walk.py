"""The walk itself: A's taps are kept, B's are compared with them one by one as they are computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor

from glassformer.comparison.difference import AnswerDifference, Difference, Shape, compare_answers, compare_tap
from glassformer.comparison.inputs import Reads, SharedInput, real_places
from glassformer.loading import Loaded

LOGITS = "head.logits"
See = Callable[[str, Tensor], None]


class Opened(Protocol):
    """A model in memory."""

    @property
    def loaded(self) -> Loaded | None: ...  # with its tokenizers, if it has any

    @property
    def dtype(self) -> torch.dtype: ...

    def walk(self, batch: SharedInput, wanted: Mapping[str, Shape], see: See) -> None:
        """One pass: `see` is called with each tap as it is computed. `wanted`: A's taps, where B's have other names."""
        ...


class Closed(Protocol):
    """A model that may not be in memory yet; what it reads is already known."""

    @property
    def name(self) -> str: ...

    @property
    def reads(self) -> Reads: ...

    @property
    def matched(self) -> bool: ...  # are its taps matched to ours by a map, in its own order?

    def open(self, dtype: torch.dtype | None) -> Opened: ...


@dataclass
class Walk:
    """A's tensors, each compared with B's as it is computed, then freed."""

    batch: SharedInput
    tensors: dict[str, Tensor] = field(default_factory=dict)  # A's, not yet compared
    shapes: dict[str, Shape] = field(default_factory=dict)  # A's, in the order of its pass
    others: dict[str, Shape] = field(default_factory=dict)  # B's
    found: dict[str, Difference] = field(default_factory=dict)
    answers: AnswerDifference | None = None

    def keep(self, name: str, x: Tensor) -> None:
        self.tensors[name], self.shapes[name] = x, tuple(x.shape)

    def meet(self, name: str, x: Tensor) -> None:
        self.others[name] = shape = tuple(x.shape)
        mine = self.tensors.pop(name, None)
        if mine is None:
            return
        real = real_places(name, shape, self.batch)
        if shape == mine.shape:
            self.found[name] = compare_tap(name, mine, x, real)
        if name == LOGITS:
            self.answers = compare_answers(mine, x, real)

    def ordered(self) -> tuple[Difference, ...]:
        return tuple(self.found[name] for name in self.shapes if name in self.found)


def placed(x: Tensor | None, device: torch.device, dtype: torch.dtype) -> Tensor | None:
    """Moved to the model's device, and numbers to its type; ids stay ids."""
    return x if x is None else x.to(device, dtype) if x.is_floating_point() else x.to(device)
