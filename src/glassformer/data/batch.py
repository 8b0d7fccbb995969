"""Examples in batches: the only place where anything is padded. True in a mask = a real token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from glassformer.data.store import TokenIds
from glassformer.errors import InputError
from glassformer.losses import IGNORE
from glassformer.text import Frame

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


PLAIN = Frame()


class Batch(Protocol):
    """What one pass needs. `count` is known here, so that a step can divide before an accelerator has finished."""

    @property
    def count(self) -> int:
        """The number of targets that count."""

    def to(self, device: torch.device) -> Batch:
        """The same on a device; on an accelerator without waiting for the copy."""


@dataclass(frozen=True)
class PairBatch:
    """Two sequences: one is read, the other is written."""

    source: Tensor  # b s
    source_mask: Tensor | None  # b s; None without padding
    target_in: Tensor | None  # b t: what the decoder sees
    target_out: Tensor  # b t: what it should predict; IGNORE where it does not count
    count: int  # targets that count

    def to(self, device: torch.device) -> PairBatch:
        return moved(self, device)


@dataclass(frozen=True)
class PackedPairBatch:
    """The same without padding: all sentences in one row, then room that is left over.

    Every batch has one size, so that what is compiled or recorded for the first serves all.
    """

    source: Tensor  # 1 s
    source_starts: Tensor  # n+1: where each sentence begins, and the end
    target_in: Tensor  # 1 t
    target_out: Tensor  # 1 t; IGNORE in the room left over
    target_starts: Tensor  # n+1
    longest: int  # no sentence is longer
    count: int

    def to(self, device: torch.device) -> PackedPairBatch:
        return moved(self, device)


@dataclass(frozen=True)
class TokenBatch:
    """One sequence, with a target for the whole of it or for every position."""

    tokens: Tensor  # b t
    mask: Tensor | None  # b t; None without padding
    targets: Tensor  # b, or b t with IGNORE where it does not count
    count: int
    segments: Tensor | None = None  # b t: which text of a pair a token belongs to

    def to(self, device: torch.device) -> TokenBatch:
        return moved(self, device)


@dataclass(frozen=True)
class ArrayBatch:
    """Inputs of one size: images, windows of a series."""

    inputs: Tensor  # b …
    targets: Tensor  # b, or b …
    count: int

    def to(self, device: torch.device) -> ArrayBatch:
        return moved(self, device)


M = TypeVar("M", bound="DataclassInstance")


def moved(batch: M, device: torch.device) -> M:
    """All tensors of a batch on a device; to an accelerator from pinned memory, without waiting for the copy."""
    if device.type == "cpu":
        return batch
    tensors: dict[str, Any] = {name: _move(x, device) for name, x in vars(batch).items() if isinstance(x, Tensor)}
    return replace(batch, **tensors)


def _move(x: Tensor, device: torch.device) -> Tensor:
    pinned = x.pin_memory() if device.type == "cuda" and x.device.type == "cpu" else x
    return pinned.to(device, non_blocking=True)


def pad(
    sequences: Sequence[TokenIds],
    value: int,
    frame: Frame = PLAIN,
    *,
    pad_to: int = 1,
) -> tuple[Tensor, NDArray[np.bool_]]:
    """Rows of one width, the longest rounded up to a multiple of `pad_to`: the tokens, b t, and which are real, b t.

    The `frame` is put around every sequence. All rows are filled at once: one copy, no loop.
    """
    lengths = np.array([len(sequence) for sequence in sequences])
    first = len(frame.front)
    width = -(-max(int(lengths.max(initial=0)) + frame.extra, 1) // pad_to) * pad_to
    at = np.arange(width)
    rows = np.full((len(sequences), width), value, dtype=np.int64)  # b t
    rows[(at >= first) & (at < lengths[:, None] + first)] = np.concatenate(sequences)
    if frame.begin is not None:
        rows[:, 0] = frame.begin
    if frame.end is not None:
        rows[np.arange(len(sequences)), lengths + first] = frame.end
    return torch.from_numpy(rows), at < lengths[:, None] + frame.extra


def pair_batch(
    sources: Sequence[TokenIds],
    targets: Sequence[TokenIds],
    *,
    padding: int,
    source: Frame,
    target: Frame,
    pad_to: int = 1,
) -> PairBatch:
    """Teacher forcing, §3.1: the decoder sees the true words so far and predicts the next. Each side has its frame.

    source      x_1 … x_s eos      target_in   bos y_1 … y_t      target_out  y_1 … y_t eos
    """
    read, real = pad(sources, padding, source, pad_to=pad_to)
    target_in, _ = pad(targets, padding, target.opened, pad_to=pad_to)
    target_out, counted = pad(targets, IGNORE, target.closed, pad_to=pad_to)
    mask = None if real.all() else torch.from_numpy(real)
    return PairBatch(read, mask, target_in, target_out, int(counted.sum()))


@dataclass(frozen=True)
class Room:
    """The size of a row without padding: tokens, sentences, and the tokens of one sentence."""

    tokens: int
    sentences: int
    longest: int


SPARE = 64  # tokens of a row that no sentence takes, at least: what is left over is never empty


def packed_pair_batch(
    sources: Sequence[TokenIds],
    targets: Sequence[TokenIds],
    *,
    padding: int,
    source: Frame,
    target: Frame,
    room: Room,
) -> PackedPairBatch:
    """`pair_batch` without padding between sentences. A kernel would leave out what is longer than the room says."""
    read, source_lengths = _row(sources, padding, source, room.tokens)
    target_in, target_lengths = _row(targets, padding, target.opened, room.tokens)
    if (longest := max(source_lengths.max(), target_lengths.max())) > room.longest:
        raise InputError("too_long", length=int(longest), max_len=room.longest)
    target_out, _ = _row(targets, IGNORE, target.closed, room.tokens)
    left = room.tokens - np.array([source_lengths.sum(), target_lengths.sum()])
    extra = int(-(-left.max() // room.longest))  # what is left over is read as sentences, of which nothing is learned
    n = max(room.sentences, len(sources) + extra)
    source_starts, target_starts = (
        _starts(lengths, int(rest), extra, n)
        for lengths, rest in zip((source_lengths, target_lengths), left, strict=True)
    )
    return PackedPairBatch(
        read, source_starts, target_in, target_out, target_starts, room.longest, int(target_lengths.sum())
    )


def _row(sequences: Sequence[TokenIds], value: int, frame: Frame, size: int) -> tuple[Tensor, NDArray[np.int64]]:
    """All sequences in their frames, one after another, and the length of each; then `value` up to `size`.

    All are filled in at once: this runs for every step, beside the thread that launches the step.
    """
    lengths = np.fromiter(map(len, sequences), dtype=np.int64, count=len(sequences)) + frame.extra
    ends = np.cumsum(lengths)
    row = np.full(size, value, dtype=np.int64)
    of_text = np.ones(int(ends[-1]), dtype=bool)
    for token, places in ((frame.begin, ends - lengths), (frame.end, ends - 1)):
        if token is not None:
            row[places] = token
            of_text[places] = False
    row[: len(of_text)][of_text] = np.concatenate(sequences)
    return torch.from_numpy(row[None]), lengths


def _starts(lengths: NDArray[np.int64], left: int, extra: int, n: int) -> Tensor:
    """Where n sentences begin, and the end: those of the batch, `extra` that share what is left, and empty ones."""
    rest = np.diff(np.arange(extra + 1) * left // extra)
    ends = np.cumsum(np.concatenate([lengths, rest, np.zeros(n - len(lengths) - extra, dtype=np.int64)]))
    return torch.from_numpy(np.concatenate([[0], ends]).astype(np.int32))


def texts(
    sequences: Sequence[TokenIds],
    targets: NDArray[Any],
    *,
    padding: int,
    frame: Frame = PLAIN,
    pad_to: int = 1,
) -> TokenBatch:
    """Texts framed by their special tokens, each with one target.

    tokens      cls x_1 … x_t sep
    """
    tokens, real = pad(sequences, padding, frame, pad_to=pad_to)
    mask = None if real.all() else torch.from_numpy(real)
    return TokenBatch(tokens, mask, torch.from_numpy(targets), len(sequences))
