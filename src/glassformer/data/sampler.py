"""The order in which examples are seen: batches of similar length, by tokens, the same for the same seed and epoch.

Where one is in it is two whole numbers, so that training continues in the middle of an epoch.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import ConfigError, InputError

Indexes = NDArray[np.int64]


class Place(NamedTuple):
    """How far one has come: the epoch, and how many of its batches are behind."""

    epoch: int = 0
    position: int = 0


def cut(
    lengths: NDArray[np.int64], order: Indexes, *, batch_tokens: int, max_sentences: int | None, pad_to: int
) -> list[Indexes]:
    """Cut an order into batches whose padded size, rows × longest, is at most `batch_tokens` on every side."""
    width = -(-lengths.max(axis=1) // pad_to) * pad_to  # of each example, padded alone
    most = max_sentences or len(order)
    batches: list[Indexes] = []
    start = widest = 0
    for i, wide in enumerate(width[order].tolist()):
        widest = max(widest, wide)
        if (i - start + 1) * widest > batch_tokens or i - start == most:
            batches.append(order[start:i])
            start, widest = i, wide
    return [*batches, order[start:]] if start < len(order) else batches


@dataclass(frozen=True, kw_only=True, eq=False)
class Sampler:
    r"""Batches of one epoch after the other, in groups: one group is one optimiser step.

        epoch e:  shuffle by (seed, e) → sort by length, keeping that order among equals → cut → shuffle the batches

    A group is `accumulate` × `world` batches in a row, across the end of an epoch where need be; rank r of `world`
    takes every world-th. So accumulate 4 on one rank and accumulate 2 on two see the same examples in every step.
    """

    lengths: NDArray[np.int64]  # examples × fields
    batch_tokens: int
    max_sentences: int | None = None
    pad_to: int = 1
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
        keys = (*self.lengths.T[::-1], self.lengths.max(axis=1))  # the last is the first to sort by
        order = order[np.lexsort([key[order] for key in keys])]
        batches = cut(
            self.lengths, order, batch_tokens=self.batch_tokens, max_sentences=self.max_sentences, pad_to=self.pad_to
        )
        return [batches[i] for i in random.permutation(len(batches))]

    def group(self, place: Place) -> tuple[list[Indexes], Place]:
        """The batches of this rank for one optimiser step, and where the next step begins."""
        epoch, position = place
        taken: list[Indexes] = []
        while len(taken) < self.accumulate * self.world:
            some = self.batches(epoch)[position : position + self.accumulate * self.world - len(taken)]
            taken += some
            position += len(some)
            if position >= len(self.batches(epoch)):
                epoch, position = epoch + 1, 0
        return taken[self.rank :: self.world], Place(epoch, position)

    def in_order(self) -> list[Indexes]:
        """Every example once, by length, for evaluation: this rank's share."""
        order = np.lexsort([*self.lengths.T[::-1], self.lengths.max(axis=1)])
        batches = cut(
            self.lengths, order, batch_tokens=self.batch_tokens, max_sentences=self.max_sentences, pad_to=self.pad_to
        )
        return batches[self.rank :: self.world]
