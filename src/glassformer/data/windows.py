"""Pieces of one long row, by where they begin: of a text of a million characters, of a series. Nothing is copied."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassformer.data.arrays import SAMPLED, sampled
from glassformer.data.examples import Example, Kept


@dataclass(frozen=True)
class Windows:
    r"""Window i begins at starts[i] and is cut into consecutive fields of these `sizes`.

        windows[i] = (values[s : s + sizes_0], values[s + sizes_0 : s + sizes_0 + sizes_1], …),     s = starts_i

    A forecaster has two, (past, future); a language model one, (context + 1,). `positions`: see `Arrays`.
    """

    values: NDArray[Any]  # t, or t × channels
    starts: NDArray[np.int64]
    sizes: tuple[int, ...]
    positions: int

    def __post_init__(self) -> None:
        inside = (self.starts >= 0) & (self.starts + sum(self.sizes) <= len(self.values))
        assert inside.all(), "a window beyond the end"

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, i: int) -> Example:
        ends = np.cumsum((self.starts[i], *self.sizes)).tolist()
        return tuple(self.values[start:end] for start, end in pairwise(ends))

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        return np.full((len(self), 1), self.positions, dtype=np.int64)

    def select(self, kept: Kept) -> Windows:
        return replace(self, starts=self.starts[np.arange(len(self))[kept]])

    @cached_property
    def fingerprint(self) -> str:
        about = f"{self.values.shape} {self.values.dtype} {self.sizes}"
        digest = hashlib.sha256(about.encode())
        digest.update(self.starts.tobytes())
        digest.update(sampled(self.values, SAMPLED))
        return digest.hexdigest()


def starts(lengths: Sequence[int], size: int, stride: int = 1) -> NDArray[np.int64]:
    """Where windows of `size` may begin in rows that lie one behind the other: none reaches from one into the next.

    The last window of a row ends where the row ends, unless `stride` leaves less than a stride over.
    """
    begins = np.concatenate(([0], np.cumsum(lengths)[:-1])).astype(np.int64)
    each = [
        begin + np.arange(0, max(length - size + 1, 0), stride) for begin, length in zip(begins, lengths, strict=True)
    ]
    return np.concatenate(each).astype(np.int64)
