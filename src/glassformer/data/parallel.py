"""Parallel text: two files, one sentence per line, line N of one is the translation of line N of the other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from glassformer.data.lines import lines
from glassformer.data.pairs import Pairs, gather
from glassformer.errors import FileError


def read_parallel(source: str | Path, target: str | Path) -> Pairs:
    """All pairs of two aligned files; .gz and .xz are read through."""
    return gather(parallel_rows(source, target), source)


def parallel_rows(source: str | Path, target: str | Path) -> Iterator[tuple[str, str]]:
    """The same, line by line, empty sides included. That the counts differ is known, and said, only at the end."""
    counts = [0, 0]
    for first, second in zip_longest(lines(source), lines(target)):
        counts[0] += first is not None
        counts[1] += second is not None
        if first is not None and second is not None:
            yield first, second
    for path, count in zip((source, target), counts, strict=True):
        if not count:
            raise FileError("data_empty_file", path=path)
    if counts[0] != counts[1]:
        raise FileError("data_counts", source=source, target=target, source_lines=counts[0], target_lines=counts[1])
