"""Which rows hang together because they share a text, and which of them are held out: for any number of rows.

Texts are compared by hashes of 128 bits, and everything else is arrays of integers, so that millions of rows take some
dozen bytes each.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassformer.data.corpus import content_mark
from glassformer.data.prepared import prepared
from glassformer.data.stored_texts import RowNumbers
from glassformer.data.watching import tell
from glassformer.files import write_bytes

AT_ONCE = 2**16  # texts that are hashed together
PARTS = ("rest.rows", "kept.rows")
BothParts = tuple[RowNumbers, RowNumbers]  # the rest, and what is held out
VERSION = 1  # of the rule by which rows are drawn


def linked(*columns: Iterable[str]) -> RowNumbers:
    """The first row that each row is linked with: by an equal text in a column, over any number of steps."""
    parent: RowNumbers | None = None
    for column in columns:
        first = _first_equal(_hashes(column))
        parent = np.arange(len(first)) if parent is None else parent
        _unite(parent, first)
    assert parent is not None, "no column"
    while not np.array_equal(parent, parent[parent]):
        parent = parent[parent]
    return parent


def _unite(parent: RowNumbers, first: RowNumbers) -> None:
    """Join the group of each row with that of the first row of the same text; the smaller number is the root."""

    def find(i: int) -> int:
        while (above := int(parent[i])) != i:
            parent[i] = i = int(parent[above])
        return i

    for i in np.flatnonzero(first != np.arange(len(first))).tolist():
        one, other = sorted((find(i), find(int(first[i]))))
        parent[other] = one


def _hashes(texts: Iterable[str]) -> NDArray[np.uint64]:
    """128 bits of every text: rows × 2."""
    found, rest, count = [], iter(texts), 0
    while some := b"".join(blake2b(text.encode(), digest_size=16).digest() for text in islice(rest, AT_ONCE)):
        found.append(np.frombuffer(some, dtype=np.uint64).reshape(-1, 2))
        count += len(found[-1])
        tell("linking", count)
    return np.concatenate(found) if found else np.zeros((0, 2), dtype=np.uint64)


def _first_equal(hashes: NDArray[np.uint64]) -> RowNumbers:
    """The number of the first row with the same hash, for each row."""
    order = np.lexsort((hashes[:, 1], hashes[:, 0]))  # stable: equal ones stay in the order of their numbers
    ordered = hashes[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    first = np.empty(len(order), dtype=np.int64)
    first[order] = order[np.flatnonzero(new)[np.cumsum(new) - 1]]
    return first


def drawn_apart(group: RowNumbers, number: int, seed: int) -> BothParts:
    """(the other rows, about `number` rows held out), at most half; a group stays together.

    Groups are taken in the order of a hash of the seed and their number, as long as they fit.
    """
    roots, sizes = np.unique(group, return_counts=True)
    order = np.lexsort(_marks((str(root) for root in roots.tolist()), len(roots), seed).T[::-1])
    taken = roots[_fitting(order, sizes[order], min(number, len(group) // 2))]
    return _both(np.isin(group, taken))


def drawn_by_content(texts: Collection[str], number: int, seed: int) -> BothParts:
    """The same for texts that are linked only if they are equal, in the order of a hash of the seed and the text."""
    marks = _marks(texts, len(texts), seed)
    order = np.lexsort(marks.T[::-1])
    ordered = marks[order]
    begin = np.flatnonzero(np.r_[True, (ordered[1:] != ordered[:-1]).any(axis=1)][: len(order)])
    sizes = np.diff(np.r_[begin, len(order)])
    held = np.zeros(len(order), dtype=bool)
    for i in _fitting(np.arange(len(begin)), sizes, min(number, len(order) // 2)).tolist():
        held[order[begin[i] : begin[i] + sizes[i]]] = True
    return _both(held)


def _fitting(groups: RowNumbers, sizes: RowNumbers, left: int) -> RowNumbers:
    """The groups that are taken: each that fits into what is left, in this order."""
    taken: list[int] = []
    for group, size in zip(groups, sizes, strict=True):
        if not left:
            break
        if size <= left:
            taken.append(int(group))
            left -= int(size)
    return np.array(taken, dtype=np.int64)


def _both(held: NDArray[np.bool_]) -> BothParts:
    return np.flatnonzero(~held), np.flatnonzero(held)


def _marks(contents: Iterable[str], count: int, seed: int) -> NDArray[np.uint64]:
    """The marks by which `held_out` draws, as three numbers each: 20 bytes, and 4 zeros."""
    marks, rest = np.empty((count, 3), dtype=np.uint64), iter(contents)
    for first in range(0, count, AT_ONCE):
        digests = b"".join(content_mark(seed, each.encode()) + bytes(4) for each in islice(rest, AT_ONCE))
        some = np.frombuffer(digests, dtype=">u8").reshape(-1, 3)
        marks[first : first + len(some)] = some
        tell("holding_out", first + len(some), count)
    return marks


def stored_parts(key: Mapping[str, Any], part: Callable[[], BothParts]) -> BothParts:
    """The rows of two parts, from the cache, mapped."""

    def make(draft: Path) -> None:
        for name, rows in zip(PARTS, part(), strict=True):
            write_bytes(draft / name, rows.astype(np.int64).tobytes())

    folder = prepared("apart", {**key, "version": VERSION}, make)
    rest, kept = (_mapped(folder / name) for name in PARTS)
    return rest, kept


def _mapped(path: Path) -> RowNumbers:
    empty = not path.stat().st_size  # an empty file cannot be mapped
    return np.zeros(0, dtype=np.int64) if empty else np.memmap(path, np.int64, "r")
