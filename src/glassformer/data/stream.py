"""One long row of tokens, read in windows of a fixed length at any offset, as for GPT. Nothing is padded."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from glassformer.data.batch import moved
from glassformer.data.examples import SAMPLED, Example, Kept, sampled
from glassformer.data.store import TokenIds
from glassformer.errors import InputError
from glassformer.losses import IGNORE


@dataclass(frozen=True)
class Stream:
    r"""Example i: all tokens of the windows of `context` + 1 tokens that begin in the i-th stretch of the row.

        stream[i] = tokens[i·c : i·c + 2c],     c = context

    Windows that begin at the first token of each stretch read the whole row once; with random beginnings every epoch
    reads the row at other offsets. An example is a view of the row: nothing is copied.
    """

    tokens: TokenIds
    context: int
    stretches: NDArray[np.int64]

    @classmethod
    def of(cls, tokens: TokenIds, context: int) -> Stream:
        if len(tokens) <= context:
            raise InputError("stream_short", tokens=len(tokens), context=context)
        return cls(tokens, context, np.arange((len(tokens) - 1) // context))

    def __len__(self) -> int:
        return len(self.stretches)

    def __getitem__(self, i: int) -> Example:
        start = int(self.stretches[i]) * self.context
        return (self.tokens[start : start + 2 * self.context],)

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        return np.full((len(self), 1), self.context, dtype=np.int64)

    def select(self, kept: Kept) -> Stream:
        return replace(self, stretches=self.stretches[np.arange(len(self))[kept]])

    @cached_property
    def fingerprint(self) -> str:
        digest = hashlib.sha256(f"{self.tokens.shape} {self.context}".encode())
        digest.update(self.stretches.tobytes())
        digest.update(sampled(self.tokens, SAMPLED))
        return digest.hexdigest()


@dataclass(frozen=True)
class StreamBatch:
    """Rows of one length: the input is all but the last token, the target all but the first."""

    rows: Tensor  # b t+1
    count: int
    right: Tensor | None = None  # b t: the targets, where some rows are empty

    @property
    def tokens(self) -> Tensor:
        return self.rows[:, :-1]  # b t

    @property
    def targets(self) -> Tensor:
        return self.rows[:, 1:] if self.right is None else self.right  # b t

    @property
    def documents(self) -> None:
        """A stream is one text: a token may attend to everything before it."""

    def to(self, device: torch.device) -> StreamBatch:
        return moved(self, device)


def windows(examples: Sequence[Example], context: int, random: np.random.Generator | None) -> StreamBatch:
    """One window from each stretch: the first, or with `random` any. All are copied at once."""
    stretches = [tokens for (tokens,) in examples]
    if random is None:
        starts = np.zeros(len(stretches), dtype=np.int64)
    else:
        starts = random.integers(0, [len(tokens) - context for tokens in stretches])
    rows = [tokens[start : start + context + 1] for tokens, start in zip(stretches, starts.tolist(), strict=True)]
    stacked = np.stack(rows).astype(np.int64)  # b t+1
    return StreamBatch(torch.from_numpy(stacked), stacked.shape[0] * context)


def filled(batch: StreamBatch, rows: int) -> StreamBatch:
    """The batch with empty rows, so that there are so many: their targets do not count."""
    empty = (0, 0, 0, max(0, rows - len(batch.rows)))
    return StreamBatch(F.pad(batch.rows, empty), batch.count, F.pad(batch.targets, empty, value=IGNORE))
