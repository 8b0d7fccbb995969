"""How far apart two tensors are, tap by tap: the largest difference, where it is, and how large."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from torch import Tensor

PIECE = 1 << 22  # numbers converted to float64 at a time
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Difference:
    """Two models at one tap.

        largest = max |A − B|        relative = largest / max(|A|, |B|), over the whole tap

    Relative to the whole tap, not number by number: near 0 a relative difference means little.
    A NaN on one side only counts as infinitely far; a NaN on both sides is no difference.
    """

    tap: str
    shape: Shape
    largest: float
    relative: float
    at: Shape  # the index of the largest
    a: float  # A's value there
    b: float

    def beyond(self, tolerance: float) -> bool:
        return self.relative > tolerance

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Parting:
    """Where two structures part: the first tap that one model lacks or has in another shape."""

    number: int  # how many taps come before it
    a: str  # "": A has no more taps
    b: str
    shape_a: Shape
    shape_b: Shape

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class AnswerDifference:
    """The likeliest token or class at each position: how many differ, and the first that does."""

    changed: int
    total: int
    first: Shape | None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def compare_tap(tap: str, a: Tensor, b: Tensor, real: Tensor | None = None) -> Difference:
    """Both tensors have the same shape. `real` (broadcast to it, True = counts) leaves padding out."""
    shape = tuple(a.shape)
    counted = None if real is None else real.expand(shape).reshape(-1)
    one, other = a.detach().reshape(-1), b.detach().reshape(-1)
    largest, scale, at = 0.0, 0.0, 0
    for first in range(0, one.numel(), PIECE):
        part = slice(first, first + PIECE)
        x, y = one[part].cpu().double(), other[part].cpu().double()
        apart = (
            (x - y).abs().masked_fill((x == y) | (x.isnan() & y.isnan()), 0.0).nan_to_num(nan=math.inf, posinf=math.inf)
        )
        size = x.abs().maximum(y.abs()).nan_to_num(nan=0.0, posinf=0.0)
        if counted is not None:
            padding = ~counted[part].cpu()
            apart, size = apart.masked_fill(padding, 0.0), size.masked_fill(padding, 0.0)
        scale = max(scale, size.max().item())
        if apart.max().item() > largest:
            largest, at = apart.max().item(), first + int(apart.argmax())
    relative = 0.0 if largest == 0.0 else largest / scale if scale else math.inf
    index = tuple(int(i) for i in np.unravel_index(at, shape)) if shape else ()
    return Difference(tap, shape, largest, relative, index, one[at].item(), other[at].item())


def compare_answers(a: Tensor, b: Tensor, real: Tensor | None = None) -> AnswerDifference | None:
    """Compares the likeliest answers. None if their positions differ. `real` is the mask of the logits."""
    if a.shape[:-1] != b.shape[:-1]:
        return None
    changed = a.argmax(-1).cpu() != b.argmax(-1).cpu()  # b t, or b
    total = changed.numel()
    if real is not None:
        counted = real.expand(*a.shape[:-1], 1)[..., 0].cpu()
        changed, total = changed & counted, int(counted.sum())
    first = tuple(changed.nonzero()[0].tolist()) if changed.any() else None
    return AnswerDifference(int(changed.sum()), total, first)


def parting(a: Mapping[str, Shape], b: Mapping[str, Shape]) -> Parting | None:
    """The first place where two walks differ; a walk is names with shapes in the order of the pass."""
    one, other = list(a.items()), list(b.items())
    for number in range(max(len(one), len(other))):
        mine = one[number] if number < len(one) else ("", ())
        yours = other[number] if number < len(other) else ("", ())
        if mine != yours:
            return Parting(number, mine[0], yours[0], mine[1], yours[1])
    return None
