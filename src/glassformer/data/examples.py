"""What training draws its batches from: examples by number, in arrays of one size or as pieces of one long row."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import InputError

Example = tuple[NDArray[Any], ...]  # one array for each field
LengthTable = NDArray[np.signedinteger[Any]]
Kept = NDArray[np.bool_] | NDArray[np.int64] | Sequence[int]
SAMPLED = 2**18  # numbers of a field used for the fingerprint


class Examples(Protocol):
    """Sequences of tokens (`Store`), arrays of one size (`Arrays`), pieces of a long row (`Windows`)."""

    def __len__(self) -> int: ...

    def __getitem__(self, i: int) -> Example: ...

    @property
    def lengths(self) -> LengthTable:
        """How many positions every field of every example takes in a batch: examples × fields."""

    @property
    def fingerprint(self) -> str:
        """Tells one set of data from another: a run can be resumed only with the data it was started with."""

    def select(self, kept: Kept) -> Examples:
        """Some of the examples, in their order."""


@dataclass(frozen=True)
class Arrays:
    """`Arrays({"image": n × 28 × 28, "label": n}, positions=49)`; arrays[i] is (image i, its label), nothing copied.

    `positions`: the number of tokens that one example gives, such as patches; the sampler counts them.
    """

    fields: Mapping[str, NDArray[Any]]
    positions: int = 1

    def __post_init__(self) -> None:
        check_sizes(self.fields)

    def __len__(self) -> int:
        return len(next(iter(self.fields.values())))

    def __getitem__(self, i: int) -> Example:
        return tuple(np.asarray(array[i]) for array in self.fields.values())

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        return np.full((len(self), 1), self.positions, dtype=np.int64)

    def select(self, kept: Kept) -> Arrays:
        indexes = np.arange(len(self))[kept]
        return Arrays({name: array[indexes] for name, array in self.fields.items()}, self.positions)

    @cached_property
    def fingerprint(self) -> str:
        """Names, shapes, types, and numbers taken evenly from each field."""
        digest = hashlib.sha256()
        for name, array in self.fields.items():
            for part in (f"{name} {array.shape} {array.dtype}".encode(), sampled(array, SAMPLED)):
                digest.update(part)
        return digest.hexdigest()


def check_sizes(fields: Mapping[str, Sized]) -> None:
    """Raises unless all fields have the same number of entries."""
    sizes = {name: len(field) for name, field in fields.items()}
    if len(set(sizes.values())) > 1:
        raise InputError("fields_differ", sizes=", ".join(f"{name} {size}" for name, size in sizes.items()))


def sampled(array: NDArray[Any], count: int) -> bytes:
    """About `count` numbers, taken evenly; all of them if there are fewer."""
    flat = array.reshape(-1)
    return np.ascontiguousarray(flat[:: max(1, flat.size // count)]).tobytes()


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
