"""What becomes of the tokens of a text on the way into a store: left out, cut off, cut into pieces, ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from glassformer.data.store import TokenIds
from glassformer.errors import choose


@dataclass(frozen=True)
class Cut:
    """`how` a text is cut to `room` tokens; `token`: what ends each, or (for pieces) all that are no text.

    "leave_out": an example with a side that is longer, or empty, is left out. "cut_off": the end of the text is lost.
    "pieces": it becomes several examples; those that hold nothing but `tokens` are left out. "ended": it becomes one
    longer, by the first of `tokens`, and nothing is cut.
    """

    how: str
    room: int = 0
    tokens: tuple[int, ...] = ()

    def __call__(self, texts: Sequence[tuple[TokenIds, ...]]) -> Iterator[tuple[TokenIds, ...]]:
        """Examples, one array for each side, as they are learned from."""
        return choose("cut", self.how, CUTS)(self, texts)


TextIds = Sequence[tuple[TokenIds, ...]]


def _leave_out(cut: Cut, texts: TextIds) -> Iterator[tuple[TokenIds, ...]]:
    return (sides for sides in texts if all(0 < len(side) <= cut.room for side in sides))


def _cut_off(cut: Cut, texts: TextIds) -> Iterator[tuple[TokenIds, ...]]:
    return (tuple(side[: cut.room] for side in sides) for sides in texts)


def _pieces(cut: Cut, texts: TextIds) -> Iterator[tuple[TokenIds, ...]]:
    for (text,) in texts:
        for first in range(0, len(text), cut.room):
            piece = text[first : first + cut.room]
            if not np.isin(piece, cut.tokens).all():
                yield (piece,)


def _ended(cut: Cut, texts: TextIds) -> Iterator[tuple[TokenIds, ...]]:
    end = np.array(cut.tokens[:1], dtype=np.int32)
    return (tuple(np.concatenate((side, end)) for side in sides) for sides in texts)


CUTS = {"leave_out": _leave_out, "cut_off": _cut_off, "pieces": _pieces, "ended": _ended}
