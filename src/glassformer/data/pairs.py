"""Sentence pairs, the input of a translator: what every reader of two languages gives back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from glassformer.errors import FileError

BLANKS = " \t\u00a0\u3000"  # stripped around a sentence; control characters are kept, wherever they stand


class Pair(NamedTuple):
    """A sentence and its translation."""

    source: str
    target: str


@dataclass(frozen=True)
class Pairs:
    """All pairs of a file in its order, and the lines that were left out because a side was empty.

    Two lists of text, not a list of pairs: a million pairs then need no million tuples.
    """

    sources: list[str]
    targets: list[str]
    skipped: tuple[int, ...] = ()  # numbers of lines, from 1

    def __len__(self) -> int:
        return len(self.sources)

    def __iter__(self) -> Iterator[Pair]:
        return map(Pair, self.sources, self.targets)

    def __getitem__(self, index: int) -> Pair:
        return Pair(self.sources[index], self.targets[index])

    def reversed(self) -> Pairs:
        """The other direction."""
        return Pairs(self.targets, self.sources, self.skipped)

    def chosen(self, indices: Iterable[int]) -> Pairs:
        """Some of them, in the order given."""
        indices = list(indices)
        return Pairs([self.sources[i] for i in indices], [self.targets[i] for i in indices])


def gather(rows: Iterable[tuple[str, str]], path: str | Path, first_line: int = 1) -> Pairs:
    """Rows of a file as pairs, without the blanks around each sentence.

    An empty side makes no training pair, and dropping it on one side only would shift all that follows: the whole
    pair is left out, and its line is kept in `skipped`, so that it can be said.
    """
    sources: list[str] = []
    targets: list[str] = []
    skipped: list[int] = []
    for number, (source, target) in enumerate(rows, first_line):
        source, target = source.strip(BLANKS), target.strip(BLANKS)
        if source and target:
            sources.append(source)
            targets.append(target)
        else:
            skipped.append(number)
    if not sources:
        raise FileError("data_no_pairs", path=path, skipped=len(skipped))
    return Pairs(sources, targets, tuple(skipped))
