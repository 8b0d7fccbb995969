"""What training draws its batches from: examples by number, whatever they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Example = tuple[NDArray[Any], ...]  # one array for each field
Kept = NDArray[np.bool_] | NDArray[np.int64] | Sequence[int]


class Examples(Protocol):
    """Sequences of tokens (`Store`), arrays of one size (`Arrays`), pieces of a long row (`Windows`)."""

    def __len__(self) -> int: ...

    def __getitem__(self, i: int) -> Example: ...

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many positions every field of every example takes in a batch: examples × fields."""

    @property
    def fingerprint(self) -> str:
        """Tells one set of data from another: a run goes on with the data it was begun with, or not at all."""

    def select(self, kept: Kept) -> Examples:
        """Some of the examples, in their order."""
