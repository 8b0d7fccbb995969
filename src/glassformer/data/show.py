"""A look into a set: how many rows each split has, how long they are, and the first of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from glassformer.data import read as reading
from glassformer.data.find import dataset, find_split


@dataclass(frozen=True)
class Glance:
    """One split of a set: its columns, its first rows, and the lengths of its text columns in characters."""

    name: str
    split: str
    rows: int
    columns: tuple[str, ...]
    first: Sequence[tuple[str, ...]]
    lengths: dict[str, dict[str, float]]  # column → mean, longest
    skipped: int = 0


def glance(name: str, split: str = "", rows: int = 3) -> Glance:
    """Reads the whole split and shows its first rows; by default the first split."""
    split = split or next(iter(dataset(name).splits))
    find_split(name, split)
    return VIEWS[dataset(name).format](name, split, rows)


def _texts(name: str, split: str, rows: int, columns: Mapping[str, Sequence[Any]]) -> Glance:
    first = list(zip(*([str(cell) for cell in column[:rows]] for column in columns.values()), strict=True))
    texts = {title: column for title, column in columns.items() if column and isinstance(column[0], str)}
    lengths = {
        title: {"mean": fmean(map(len, column)), "longest": max(map(len, column))} for title, column in texts.items()
    }
    count = len(next(iter(columns.values())))
    return Glance(name, split, count, tuple(columns), first, lengths)


def _pairs(name: str, split: str, rows: int) -> Glance:
    source, target = dataset(name).languages
    pairs = reading.translation_pairs(name, split)
    seen = _texts(name, split, rows, {source: pairs.sources, target: pairs.targets})
    return Glance(name, split, seen.rows, seen.columns, seen.first, seen.lengths, skipped=len(pairs.skipped))


def _labelled(name: str, split: str, rows: int) -> Glance:
    found = reading.labelled(name, split)
    return _texts(name, split, rows, {"document": found.texts, "label": found.labels})


def _dialogue(name: str, split: str, rows: int) -> Glance:
    found = reading.dialogue(name, split)
    return _texts(name, split, rows, {"Q": found.questions, "A": found.answers, "label": found.labels})


def _text(name: str, split: str, rows: int) -> Glance:
    whole = reading.text(name, split)
    first = [(line,) for line in whole.split("\n", rows)[:rows]]
    return Glance(name, split, len(whole), ("text",), first, {})


def _series(name: str, split: str, rows: int) -> Glance:
    found = reading.series(name, split)
    first = [(found.dates[i], *(f"{value:g}" for value in found.values[i])) for i in range(min(rows, len(found)))]
    return Glance(name, split, len(found), ("date", *found.channels), first, {})


def _prices(name: str, split: str, rows: int) -> Glance:
    found = reading.prices(name, split)
    ticker, shares = next(iter(found.items()))
    first = [
        (ticker, shares.dates[i], *(f"{value:g}" for value in shares.values[i])) for i in range(min(rows, len(shares)))
    ]
    return Glance(name, split, sum(map(len, found.values())), ("ticker", "date", *shares.channels), first, {})


def _images(name: str, split: str, rows: int) -> Glance:
    found = reading.images(name, split)
    height, width = found.images.shape[1:]
    first = [(f"{height} × {width}", str(label)) for label in found.labels[:rows]]
    return Glance(name, split, len(found), ("image", "label"), first, {})


def _file(name: str, split: str, rows: int) -> Glance:
    return Glance(name, split, find_split(name, split).rows, ("file",), [(find_split(name, split).files[0],)], {})


VIEWS: dict[str, Callable[[str, str, int], Glance]] = {
    "parallel": _pairs,
    "tsv": _pairs,
    "tsv_hashed": _pairs,
    "tsv_labelled": _labelled,
    "csv_dialogue": _dialogue,
    "series": _series,
    "prices": _prices,
    "text": _text,
    "images": _images,
    "file": _file,
}
