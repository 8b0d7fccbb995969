"""One channel of a series: a number for each moment. Several stand in one CSV; every fault is named by its line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from glassformer.data.moments import Moments, check_order, read_moments, refuse_gaps
from glassformer.data.table import csv_rows
from glassformer.errors import FileError

MISSING = ("", "na", "n/a", "nan", "null", "none", "-")


@dataclass(frozen=True)
class Channel:
    """A name, moments in order, and as many finite numbers."""

    name: str
    moments: Moments  # t
    values: NDArray[np.float64]  # t

    def __len__(self) -> int:
        return len(self.values)


def read_channels(
    path: str | Path, *, date: str = "", columns: Sequence[str] = (), gaps: bool = False
) -> list[Channel]:
    """Columns of a CSV with a header. `date` names the column of the date, by default the first that is called so.

    Without `columns` all others are read. With `gaps` the steps between the rows may differ.
    """
    (_, header), *rows = csv_rows(path)
    names = [name.strip() for name in header]
    if not rows:
        raise FileError("data_empty_file", path=path)
    if len(names) == 1 and ";" in names[0]:
        raise FileError("semicolons", path=path)
    when = find_column(path, names, date) if date else date_column(path, names)
    places = [find_column(path, names, name) for name in columns] or [i for i in range(len(names)) if i != when]
    if not places:
        raise FileError("no_numbers", path=path, column=names[when])
    lines = [line for line, _ in rows]
    moments = read_moments([row[when] for _, row in rows], lines, path)
    check_order(moments, lines, path)
    if not gaps:
        refuse_gaps(moments, lines, path)
    return [Channel(names[i], moments, _numbers(rows, i, names[i], path)) for i in places]


def find_column(path: str | Path, names: Sequence[str], name: str) -> int:
    """Where a column stands; capitals do not count where there is no doubt."""
    folded = [each.casefold() for each in names]
    if name in names:
        return names.index(name)
    if folded.count(name.strip().casefold()) == 1:
        return folded.index(name.strip().casefold())
    raise FileError("data_no_column", path=path, column=name, known=", ".join(names))


def date_column(path: str | Path, names: Sequence[str]) -> int:
    """The first column that is called a date or a time."""
    for i, name in enumerate(names):
        if name.casefold() in ("date", "datetime", "timestamp", "time", "day", "month", "날짜", "일자", "일시"):
            return i
    raise FileError("no_date_column", path=path, known=", ".join(names))


def _numbers(rows: Sequence[tuple[int, list[str]]], i: int, name: str, path: str | Path) -> NDArray[np.float64]:
    cells = [row[i] for _, row in rows]
    try:
        values = np.array([float(cell) for cell in cells])
        if np.isfinite(values).all():
            return values
    except ValueError:
        pass
    raise next(error for line, row in rows if (error := _refused(row[i], line, name, path)) is not None)


def _refused(cell: str, line: int, name: str, path: str | Path) -> FileError | None:
    """What is wrong with a number, if anything is."""
    text = cell.strip()
    if text.casefold() in MISSING:
        return FileError("value_missing", path=path, line=line, column=name, value=cell)
    try:
        finite = math.isfinite(float(text))
    except ValueError:
        if "," in text and text.replace(",", "").replace(".", "").lstrip("+-").isdigit():
            return FileError("decimal_comma", path=path, line=line, column=name, value=cell)
        return FileError("not_a_number", path=path, line=line, column=name, value=cell)
    return None if finite else FileError("value_missing", path=path, line=line, column=name, value=cell)
