"""Sentence pairs, the input of a translator, and their files: two parallel texts, a table, or JSON lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha1
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from glassformer.data.corpus import content_mark, held_out
from glassformer.data.lines import jsonl_rows, read_lines
from glassformer.data.table import ColumnLayout, Form, column_count, column_index, is_jsonl, pair_columns, table_rows
from glassformer.errors import FileError

BLANKS = " \t\u00a0\u3000"  # stripped around a sentence; control characters are kept everywhere
FOUND_OUT = Form()
PARTS = 20  # 1/20 test, 1/20 validation, the rest for training


class Pair(NamedTuple):
    """A sentence and its translation."""

    source: str
    target: str


@dataclass(frozen=True)
class Pairs:
    """All pairs of a file in order, and the lines that were left out because a side was empty.

    Two lists of texts, not a list of pairs, so that a million pairs do not need a million tuples.
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

    A pair with an empty side is useless, and dropping only that side would shift all that follow: the whole pair is
    left out, and its line is recorded in `skipped` for a report.
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


def read_parallel(source: str | Path, target: str | Path) -> Pairs:
    """All pairs of two aligned files; .gz and .xz are unpacked."""
    return gather(parallel_rows(source, target), source)


def parallel_rows(source: str | Path, target: str | Path) -> Iterator[tuple[str, str]]:
    """The same, line by line, including empty sides. Raises only at the end if the counts differ."""
    counts = [0, 0]
    for first, second in zip_longest(read_lines(source), read_lines(target)):
        counts[0] += first is not None
        counts[1] += second is not None
        if first is not None and second is not None:
            yield first, second
    for path, count in zip((source, target), counts, strict=True):
        if not count:
            raise FileError("data_empty_file", path=path)
    if counts[0] != counts[1]:
        raise FileError("data_counts", source=source, target=target, source_lines=counts[0], target_lines=counts[1])


def read_pairs(path: str | Path, form: Form = FOUND_OUT) -> Pairs:
    """All pairs of a file, plain or packed. The first column is the source, unless the header says otherwise."""
    if is_jsonl(path):
        return read_jsonl(path, *form.keys(path, pair_columns))
    layout = form.layout(path)
    places = pair_places(path, layout, form)
    return gather(_sides(path, layout, places), path, first_line=2 if layout.header else 1)


def read_jsonl(path: str | Path, source: str = "source", target: str = "target") -> Pairs:
    """The pairs under two keys."""
    return gather(jsonl_rows(path, source, target), path)


def pair_places(path: str | Path, layout: ColumnLayout, form: Form) -> tuple[int, int]:
    """The columns of source and target, from 0."""
    names = layout.header or [""] * column_count(path, layout)
    given = form.places(path, names)
    if given is not None:
        return given[0], given[1]
    if len(names) < 2:
        column_index(2, names, path)  # raises: there is no second column
    found = pair_columns(names) if layout.header else (0, 1)
    if found is None:
        raise FileError("columns_unclear", path=path, known=", ".join(names))
    return found


def _sides(path: str | Path, layout: ColumnLayout, places: tuple[int, int]) -> Iterator[tuple[str, str]]:
    """Both sides of each row; an empty line is an empty row, which the reader skips and counts."""
    needed = max(places) + 1
    for number, cells in table_rows(path, layout):
        if cells and len(cells) < needed:
            raise FileError("data_row_short", path=path, line=number, columns=len(cells), needed=needed)
        yield (cells[places[0]], cells[places[1]]) if cells else ("", "")


def hashed(pairs: Pairs, split: str) -> Pairs:
    """The pairs of "train", "val" or "test"; no sentence of either language is in two of them.

    One sentence may have several translations, and two sentences may share one: pairs linked in this way, over any
    number of steps, form a group and stay together. Its part is decided by the SHA-1 of its first source in the order
    of code points, modulo 20: 0 is test, 1 is val, all others are train.
    """
    root = _groups(pairs)
    first: dict[int, str] = {}
    for group, source in zip(root, pairs.sources, strict=True):
        first[group] = min(source, first.get(group, source))
    part = {group: _part(source) for group, source in first.items()}
    return pairs.chosen(i for i, group in enumerate(root) if part[group] == split)


def _part(text: str) -> str:
    number = int(sha1(text.encode("utf-8"), usedforsecurity=False).hexdigest(), 16) % PARTS
    return {0: "test", 1: "val"}.get(number, "train")


def _groups(pairs: Pairs) -> list[int]:
    """The number of the first pair that each pair is linked with."""
    parent = list(range(len(pairs)))

    def find(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for side in (pairs.sources, pairs.targets):
        seen: dict[str, int] = {}
        for i, sentence in enumerate(side):
            one, other = sorted((find(i), find(seen.setdefault(sentence, i))))
            parent[other] = one
    return [find(i) for i in range(len(pairs))]


def apart(pairs: Pairs, number: int, seed: int) -> tuple[Pairs, Pairs]:
    """(the rest, `number` pairs held out): drawn by seed, and no sentence of either language is in both."""
    return held_out(pairs, [content_mark(seed, str(group).encode()) for group in _groups(pairs)], number)
