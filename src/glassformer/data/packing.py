"""Short texts packed into rows of one length: hardly any padding, and no text sees another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from glassformer.data.batch import moved, pad
from glassformer.data.examples import Example
from glassformer.data.store import Store, TokenIds
from glassformer.losses import IGNORE
from glassformer.text import Frame

PADDING = -1  # the document that padding belongs to: it sees only itself


def pieces(texts: Iterable[Sequence[int]], frame: Frame, context: int) -> Iterator[TokenIds]:
    r"""Texts in their frame, those longer than a row cut into pieces of at most `context` + 1 tokens.

        begin x_1 … x_n end        input: begin x_1 … x_n        target: x_1 … x_n end

    A piece begins with the last token of the one before it, so that every token is predicted exactly once.
    """
    for text in texts:
        framed = np.array(frame.around(text), dtype=np.int32)
        for start in range(0, len(framed) - 1, context):
            yield framed[start : start + context + 1]


def fit(lengths: NDArray[np.int64], size: int) -> list[list[int]]:
    """The texts that share a row: the longest first, each into the fullest row that still has room for it."""
    rows: list[list[int]] = []
    free: list[list[int]] = [[] for _ in range(size + 1)]  # rows by the room they have left
    some = 0  # bit n: some row has n left
    for i in np.argsort(-lengths, kind="stable").tolist():
        length = int(lengths[i])
        enough = some >> length
        if enough:
            room = length + (enough & -enough).bit_length() - 1
            row = free[room].pop()
            if not free[room]:
                some &= ~(1 << room)
        else:
            room, row = size, len(rows)
            rows.append([])
        rows[row].append(i)
        free[room - length].append(row)
        some |= 1 << (room - length)
    return rows


def pack(texts: Iterable[Sequence[int]], frame: Frame, context: int) -> Store:
    """Rows of at most `context` tokens: inputs, targets, and the number of each token's document."""
    parts = list(pieces(texts, frame, context))
    rows = fit(np.array([len(part) - 1 for part in parts], dtype=np.int64), context)

    def joined(row: list[int], cut: slice) -> TokenIds:
        return np.concatenate([parts[i][cut] for i in row])

    numbers = [np.repeat(np.arange(len(row)), [len(parts[i]) - 1 for i in row]) for row in rows]
    return Store.of(
        {
            "read": [joined(row, slice(None, -1)) for row in rows],
            "foreseen": [joined(row, slice(1, None)) for row in rows],
            "document": [number.astype(np.int32) for number in numbers],
        }
    )


@dataclass(frozen=True)
class PackedBatch:
    """Rows of packed texts; see `Decoder.forward` for what `documents` does."""

    tokens: Tensor  # b t
    targets: Tensor  # b t: IGNORE for padding
    documents: Tensor  # b t
    count: int

    def to(self, device: torch.device) -> PackedBatch:
        return moved(self, device)


def packed(examples: Sequence[Example], padding: int, pad_to: int = 1) -> PackedBatch:
    """Rows as a batch."""
    tokens, real = pad([read for read, _, _ in examples], padding, pad_to=pad_to)
    targets, _ = pad([foreseen for _, foreseen, _ in examples], IGNORE, pad_to=pad_to)
    documents, _ = pad([number for _, _, number in examples], PADDING, pad_to=pad_to)
    return PackedBatch(tokens, targets, documents, int(real.sum()))
