"""Which lines a vocabulary is learned from, if there are too many: drawn by a seed, as many as fit into the memory.

What a learner needs grows with the different words, not with the lines, so that these are limited too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from zlib import crc32

import numpy as np

from glassformer.data.stored_texts import RowNumbers, StoredTexts, chosen_texts

DIFFERENT = 2**23  # bytes of all different words together; a learner of byte pairs needs about 130 times as many
AT_ONCE = 2**13  # lines


def sample_lines(sides: Sequence[Sequence[str]], most: int, seed: int) -> Iterator[str]:
    """At most `most` lines of all sides together, in their order; 0: all of them.

    Of texts that are kept in the cache, only so many that their different words have at most `DIFFERENT` bytes.
    """
    total = sum(map(len, sides))
    stored = any(isinstance(side, StoredTexts) for side in sides)
    if not stored and (not most or total <= most):
        for side in sides:
            yield from side
        return
    drawn = np.random.default_rng(seed).permutation(total)[: most or total].copy()
    if stored:
        drawn = drawn[: _enough(sides, drawn)]
    for side, rows in zip(sides, _by_side(sides, np.sort(drawn)), strict=True):
        yield from chosen_texts(side, rows)


def _enough(sides: Sequence[Sequence[str]], drawn: RowNumbers) -> int:
    """How many of the lines, in the order in which they were drawn; at least `AT_ONCE`."""
    seen, held = set[int](), 0
    for first in range(0, len(drawn), AT_ONCE):
        for side, rows in zip(sides, _by_side(sides, np.sort(drawn[first : first + AT_ONCE])), strict=True):
            for line in chosen_texts(side, rows):
                for word in line.encode().split():
                    mark = crc32(word)  # two words in a few thousand million share one: they count as one
                    if mark not in seen:
                        seen.add(mark)
                        held += len(word)
        if held > DIFFERENT:
            return first + AT_ONCE
    return len(drawn)


def _by_side(sides: Sequence[Sequence[str]], rows: RowNumbers) -> list[RowNumbers]:
    """Numbers that count through all sides, as numbers of each side's own lines."""
    ends = np.cumsum([0, *map(len, sides)])
    cuts = np.searchsorted(rows, ends)
    return [rows[cuts[i] : cuts[i + 1]] - ends[i] for i in range(len(sides))]
