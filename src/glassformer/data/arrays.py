"""Examples of one size, images and their classes for example: one array for each field, n × …, in memory or mapped."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassformer.data.examples import Example, Kept
from glassformer.errors import InputError

SAMPLED = 2**18  # numbers of a field that enter the fingerprint


@dataclass(frozen=True)
class Arrays:
    """`Arrays({"image": n × 28 × 28, "label": n}, positions=49)`; arrays[i] is (image i, its label), nothing copied.

    `positions`: how many tokens the blocks see of one example, patches for example; the sampler counts them.
    """

    fields: Mapping[str, NDArray[Any]]
    positions: int = 1

    def __post_init__(self) -> None:
        sizes = {name: len(array) for name, array in self.fields.items()}
        if len(set(sizes.values())) > 1:
            raise InputError("fields_differ", sizes=", ".join(f"{name} {size}" for name, size in sizes.items()))

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


def sampled(array: NDArray[Any], count: int) -> bytes:
    """About `count` numbers, taken evenly; all of them where there are fewer."""
    flat = array.reshape(-1)
    return np.ascontiguousarray(flat[:: max(1, flat.size // count)]).tobytes()
