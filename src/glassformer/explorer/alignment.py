"""Which row of one pass belongs to which row of another: by position, or by the pieces that both texts have.

Two texts of one length are laid side by side. If their lengths differ, position i means something else in each, so
only the pieces that stand in both, in the same order, belong together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

RowPair = tuple[int | None, int | None]


@dataclass(frozen=True)
class Alignment:
    """`pairs`: every row of both, in order; None where the other has none. `how`: position, pieces or none."""

    how: str
    pairs: list[RowPair]

    @property
    def shared(self) -> list[tuple[int, int]]:
        """The rows that both have."""
        return [(i, j) for i, j in self.pairs if i is not None and j is not None]

    @property
    def rows(self) -> tuple[list[int], list[int]]:
        """The same as indices of the one and of the other."""
        return [i for i, _ in self.shared], [j for _, j in self.shared]

    def to_json(self) -> dict[str, Any]:
        return {"how": self.how, "pairs": [list(pair) for pair in self.pairs]}


def align(one: Sequence[str], other: Sequence[str], *, words: bool) -> Alignment:
    """The pieces of two passes. `words`: they are words, whose places mean nothing by themselves; patches do."""
    if len(one) == len(other):
        return Alignment("position", [(i, i) for i in range(len(one))])
    if words:
        pairs = matched(one, other)
        if any(None not in pair for pair in pairs):
            return Alignment("pieces", pairs)
    return Alignment("none", [*((i, None) for i in range(len(one))), *((None, j) for j in range(len(other)))])


def matched(one: Sequence[str], other: Sequence[str]) -> list[RowPair]:
    """Every element of both in order; what stands in both, in the same order, as one pair."""
    pairs: list[RowPair] = []
    for kind, first, last, begin, end in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if kind == "equal":
            pairs += zip_longest(range(first, last), range(begin, end))
        else:
            pairs += [(i, None) for i in range(first, last)]
            pairs += [(None, j) for j in range(begin, end)]
    return pairs
