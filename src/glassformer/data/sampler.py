"""The order in which examples are seen: batches of similar length, by tokens, the same for the same seed and epoch.

A position in this order is two integers, so training can resume in the middle of an epoch; randomness inside a batch
depends only on its place.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from glassformer.data.examples import Example, LengthTable
from glassformer.errors import ConfigError, InputError

Indexes = NDArray[np.int64]
AT_ONCE = 2**16  # examples
BATCH = 1  # differs from the sampler's own [seed, epoch], where numpy fills in zeros


class EpochPosition(NamedTuple):
    """How far training has come: the epoch, and how many of its batches are done."""

    epoch: int = 0
    position: int = 0


class Taken(NamedTuple):
    """A batch, and its place in the order."""

    place: EpochPosition
    indexes: Indexes


def cut(
    lengths: LengthTable, order: Indexes, *, batch_tokens: int, max_sentences: int | None, pad_to: int
) -> list[Indexes]:
    """Cut an order into batches whose padded size, rows × longest, is at most `batch_tokens` on every side."""
    width = -(-lengths.max(axis=1) // pad_to) * pad_to  # of each example, padded alone
    most = max_sentences or len(order)
    batches: list[Indexes] = []
    start = widest = 0
    for i, wide in enumerate(_one_by_one(width, order)):
        widest = max(widest, wide)
        if (i - start + 1) * widest > batch_tokens or i - start == most:
            batches.append(order[start:i])
            start, widest = i, wide
    return [*batches, order[start:]] if start < len(order) else batches


def _one_by_one(width: LengthTable, order: Indexes) -> Iterator[int]:
    """`width[order]` as integers, without a list of millions."""
    for first in range(0, len(order), AT_ONCE):
        yield from width[order[first : first + AT_ONCE]].tolist()


@dataclass(frozen=True, kw_only=True, eq=False)
class Sampler:
    r"""Batches of one epoch after the other, in groups: one group is one optimiser step.

        epoch e:  shuffle by (seed, e) → sort by length, keeping that order among equals → cut → shuffle the batches

    Sorted over the whole epoch (`pool` 0), a batch holds sentences of one length, as in the paper: hardly any padding,
    but each step sees only one length. A `pool` of n sorts about n batches at a time, so that each mixes about
    1/n of all lengths; 1 sorts nothing.

    A group is `accumulate` × `world` consecutive batches, across the end of an epoch if necessary; rank r of `world`
    takes every world-th. So accumulate 4 on one rank and accumulate 2 on two see the same examples in every step.
    """

    lengths: LengthTable  # examples × fields
    batch_tokens: int
    max_sentences: int | None = None
    pad_to: int = 1
    pool: int = 0
    accumulate: int = 1
    seed: int = 0
    rank: int = 0
    world: int = 1

    def __post_init__(self) -> None:
        if not len(self.lengths):
            raise InputError("no_examples")
        longest = -(-int(self.lengths.max()) // self.pad_to) * self.pad_to
        if longest > self.batch_tokens:
            raise ConfigError("batch_too_small", batch_tokens=self.batch_tokens, longest=longest)
        object.__setattr__(self, "batches", lru_cache(maxsize=2)(self.batches))

    def batches(self, epoch: int) -> list[Indexes]:
        """All batches of an epoch, in order, for all ranks."""
        random = np.random.default_rng([self.seed, epoch])
        order = random.permutation(len(self.lengths))
        if self.pool != 1:
            order = order[self._by_length(order)]
        batches = self._cut(order)
        return [batches[i] for i in random.permutation(len(batches))]

    def _by_length(self, order: Indexes) -> Indexes:
        """An order sorted by length: pool by pool, up and down in turn, so that no batch mixes longest and shortest."""
        lengths = self.lengths[order]
        keys = [*lengths.T[::-1], lengths.max(axis=1)]  # the last key is the primary one
        if self.pool:
            rows = max(1, round(self.pool * self.batch_tokens / lengths.max(axis=1).mean()))
            pools = np.arange(len(order)) // rows
            keys = [*(np.where(pools % 2, -key, key) for key in keys), pools]
        return np.lexsort(keys)

    def _cut(self, order: Indexes) -> list[Indexes]:
        most, lengths = self.max_sentences, self.lengths
        return cut(lengths, order, batch_tokens=self.batch_tokens, max_sentences=most, pad_to=self.pad_to)

    def group(self, place: EpochPosition) -> tuple[list[Taken], EpochPosition]:
        """The batches of this rank for one optimiser step, each with its place, and where the next step begins."""
        epoch, position = place
        taken: list[Taken] = []
        while len(taken) < self.accumulate * self.world:
            some = self.batches(epoch)[position : position + self.accumulate * self.world - len(taken)]
            taken += [Taken(EpochPosition(epoch, position + i), indexes) for i, indexes in enumerate(some)]
            position += len(some)
            if position >= len(self.batches(epoch)):
                epoch, position = epoch + 1, 0
        return taken[self.rank :: self.world], EpochPosition(epoch, position)

    def in_order(self) -> list[Indexes]:
        """Every example once, by length, for evaluation: this rank's share."""
        order = np.lexsort([*self.lengths.T[::-1], self.lengths.max(axis=1)])
        return self._cut(order)[self.rank :: self.world]


def of_batch(seed: int, place: EpochPosition) -> np.random.Generator:
    """The generator that masks, crops and mixes a training batch: it depends only on the batch's place."""
    return np.random.default_rng([seed, place.epoch, place.position, BATCH])


def of_example(example: Example) -> np.random.Generator:
    """The generator that masks an example in validation: the same in every evaluation and in any batch."""
    mark = 0
    for field in example:
        mark = zlib.crc32(np.ascontiguousarray(field).tobytes(), mark)
    return np.random.default_rng(mark)
