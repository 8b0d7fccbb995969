"""Sentence pairs, the input of a translator, and their files: two parallel texts, a table, or JSON lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha1
from itertools import chain, zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np

from glassformer.data.groups import drawn_apart, linked, stored_parts
from glassformer.data.keyed import is_keyed, keyed_rows
from glassformer.data.lines import read_lines
from glassformer.data.prepared import mark_of
from glassformer.data.stored_texts import RowNumbers, StoredTexts, are_large, chosen_texts, stored_columns
from glassformer.data.table import ColumnLayout, Form, column_count, column_index, pair_columns, table_rows
from glassformer.errors import FileError

BLANKS = " \t\u00a0\u3000"  # stripped around a sentence; control characters are kept everywhere
FOUND_OUT = Form()
SIDES = ("source", "target")
PARTS = 20  # 1/20 test, 1/20 validation, the rest for training


class Pair(NamedTuple):
    """A sentence and its translation."""

    source: str
    target: str


@dataclass(frozen=True)
class Pairs:
    """All pairs of a file in order, and the lines that were left out because a side was empty.

    Two columns of texts, not a list of pairs, so that a million pairs do not need a million tuples. Those of large
    files are `StoredTexts`, which take no memory.
    """

    sources: Sequence[str]
    targets: Sequence[str]
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
        rows = np.asarray(indices if isinstance(indices, np.ndarray) else list(indices), dtype=np.int64)
        return Pairs(chosen_texts(self.sources, rows), chosen_texts(self.targets, rows))

    @property
    def stored(self) -> bool:
        """Whether both sides are in the cache."""
        return isinstance(self.sources, StoredTexts) and isinstance(self.targets, StoredTexts)


def chained_pairs(parts: Sequence[Pairs]) -> Pairs:
    """Several sets, one after another."""
    if len(parts) == 1:
        return parts[0]
    if not any(part.stored for part in parts):
        return Pairs([s for part in parts for s in part.sources], [t for part in parts for t in part.targets])
    form = [marks_of(part) for part in parts]
    (sources, targets), _ = stored_columns((), form, SIDES, lambda _: chain.from_iterable(parts))
    return Pairs(sources, targets)


def marks_of(pairs: Pairs) -> list[str]:
    """Tells a set of pairs from all others."""
    return [text.mark if isinstance(text, StoredTexts) else mark_of([*text]) for text in (pairs.sources, pairs.targets)]


def gather(rows: Iterable[tuple[str, str]], path: str | Path, first_line: int = 1) -> Pairs:
    """Rows of a file as pairs, without the blanks around each sentence.

    A pair with an empty side is useless, and dropping only that side would shift all that follow: the whole pair is
    left out, and its line is recorded in `skipped` for a report.
    """
    skipped: list[int] = []
    both = list(zip(*_whole(rows, path, first_line, skipped), strict=True))
    return Pairs([*both[0]], [*both[1]], tuple(skipped))


def _whole(rows: Iterable[tuple[str, str]], path: str | Path, first_line: int, skipped: list[int]) -> Iterator[Pair]:
    """The pairs with two sides; the lines of the others are appended to `skipped`."""
    number = first_line - 1
    for number, (source, target) in enumerate(rows, first_line):
        source, target = source.strip(BLANKS), target.strip(BLANKS)
        if source and target:
            yield Pair(source, target)
        else:
            skipped.append(number)
    if number - first_line + 1 == len(skipped):
        raise FileError("data_no_pairs", path=path, skipped=len(skipped))


def _read(
    files: Sequence[str | Path], form: object, rows: Callable[[], Iterable[tuple[str, str]]], first_line: int = 1
) -> Pairs:
    """The pairs in some files: in memory, or in the cache if they are large."""
    if not are_large(files):
        return gather(rows(), files[0], first_line)
    (sources, targets), skipped = stored_columns(
        files, [form, BLANKS], SIDES, lambda skipped: _whole(rows(), files[0], first_line, skipped)
    )
    return Pairs(sources, targets, skipped)


def read_parallel(source: str | Path, target: str | Path) -> Pairs:
    """All pairs of two aligned files; packed ones are unpacked."""
    return _read((source, target), "parallel", lambda: parallel_rows(source, target))


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
    if is_keyed(path):
        return read_keyed(path, *form.keys(path, pair_columns))
    layout = form.layout(path)
    places = pair_places(path, layout, form)
    how = ["table", asdict(layout), places]
    return _read((path,), how, lambda: _sides(path, layout, places), first_line=2 if layout.header else 1)


def read_keyed(path: str | Path, source: str = "source", target: str = "target") -> Pairs:
    """The pairs under two keys."""
    return _read((path,), ["keyed", source, target], lambda: keyed_rows(path, source, target))


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
    root = linked(pairs.sources, pairs.targets).tolist()
    first: dict[int, str] = {}
    for group, source in zip(root, pairs.sources, strict=True):
        first[group] = min(source, first.get(group, source))
    part = {group: _part(source) for group, source in first.items()}
    return pairs.chosen(i for i, group in enumerate(root) if part[group] == split)


def _part(text: str) -> str:
    number = int(sha1(text.encode("utf-8"), usedforsecurity=False).hexdigest(), 16) % PARTS
    return {0: "test", 1: "val"}.get(number, "train")


def apart(pairs: Pairs, number: int, seed: int) -> tuple[Pairs, Pairs]:
    """(the rest, `number` pairs held out): drawn by seed, and no sentence of either language is in both."""

    def part() -> tuple[RowNumbers, RowNumbers]:
        return drawn_apart(linked(pairs.sources, pairs.targets), number, seed)

    if not pairs.stored:
        rest, kept = part()
        return pairs.chosen(rest), pairs.chosen(kept)
    rest, kept = stored_parts({"texts": marks_of(pairs), "number": number, "seed": seed}, part)
    return pairs.chosen(rest), pairs.chosen(kept)
