"""One channel of a series: a number for each moment. A CSV may hold several; errors name the line."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from glassformer.config.values import one_of
from glassformer.data.moments import Moments, check_order, is_moment, read_moments, refuse_gaps
from glassformer.data.table import DATES, ColumnLayout, find_layout, table_rows
from glassformer.errors import FileError

MISSING = ("", "na", "n/a", "nan", "null", "none", "-")
SIGNS = (".", ",")
GROUPED = {
    ".": re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d+)(\.\d*)?"),
    ",": re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d+)(,\d*)?([eE][+-]?\d+)?"),
}


@dataclass(frozen=True)
class Channel:
    """A name, moments in order, and as many finite numbers."""

    name: str
    moments: Moments  # t
    values: NDArray[np.float64]  # t

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True)
class SeriesForm:
    """What a recipe says about a CSV of series; the rest is inferred from the file.

    `date` names the column of dates, by default the first with such a name, or with dates in it. Without `columns` all
    others are read. With `gaps` the steps between the rows may differ. `decimal`: "." or ",".
    """

    date: str = ""
    columns: Sequence[str] = ()
    gaps: bool = False
    delimiter: str = ""
    header: bool | None = None
    decimal: str = ""


@dataclass(frozen=True)
class SeriesSheet:
    """A table of series before its cells are numbers: without a header its columns are called 1, 2, 3 …"""

    path: str | Path
    layout: ColumnLayout
    names: list[str]
    when: int
    rows: list[tuple[int, list[str]]]


def read_channels(path: str | Path, form: SeriesForm = SeriesForm()) -> list[Channel]:  # noqa: B008
    """Columns of numbers beside a column of dates."""
    sheet = read_sheet(path, form)
    names, when, rows = sheet.names, sheet.when, sheet.rows
    places = [find_column(path, names, name) for name in form.columns] or [i for i in range(len(names)) if i != when]
    if not places:
        raise FileError("no_numbers", path=path, column=names[when])
    lines = [line for line, _ in rows]
    moments = read_moments([row[when] for _, row in rows], lines, path)
    check_order(moments, lines, path)
    if not form.gaps:
        refuse_gaps(moments, lines, path)
    sign = form.decimal or decimal_sign(path, [row[i] for _, row in rows for i in places])
    return [Channel(names[i], moments, _numbers(rows, i, names[i], path, sign)) for i in places]


def read_sheet(path: str | Path, form: SeriesForm = SeriesForm()) -> SeriesSheet:  # noqa: B008
    """The rows of a CSV, the names of its columns, and the column of dates."""
    layout = _layout(path, form)
    rows = [(line, cells) for line, cells in table_rows(path, layout) if cells]
    if not rows:
        raise FileError("data_empty_file", path=path)
    names = [name.strip() for name in layout.header] or [str(i + 1) for i in range(len(rows[0][1]))]
    for line, cells in rows:
        if len(cells) != len(names):
            raise FileError("data_row_width", path=path, line=line, columns=len(cells), needed=len(names))
    when = find_column(path, names, form.date) if form.date else date_column(path, names, rows[0][1])
    return SeriesSheet(path, layout, names, when, rows)


def _layout(path: str | Path, form: SeriesForm) -> ColumnLayout:
    """A first line that holds no date is a header, whatever its columns are called."""
    if form.header is not None:
        return find_layout(path, delimiter=form.delimiter, header=form.header, least=1)
    found = find_layout(path, delimiter=form.delimiter, header=True, least=1)
    return ColumnLayout(found.delimiter) if any(is_moment(cell) for cell in found.header) else found


def find_column(path: str | Path, names: Sequence[str], name: str) -> int:
    """The index of a column; case is ignored if the name is still unique."""
    folded = [each.casefold() for each in names]
    if name in names:
        return names.index(name)
    if folded.count(name.strip().casefold()) == 1:
        return folded.index(name.strip().casefold())
    raise FileError("data_no_column", path=path, column=name, known=", ".join(names))


def date_column(path: str | Path, names: Sequence[str], first: Sequence[str]) -> int:
    """The first column with the name of a date or time; else the first that holds one in the first row."""
    for i, name in enumerate(names):
        if name.casefold() in DATES:
            return i
    for i, cell in enumerate(first):
        if is_moment(cell):
            return i
    raise FileError("no_date_column", path=path, known=", ".join(names))


def decimal_sign(path: str | Path, cells: Sequence[str]) -> str:
    """The decimal sign with which all cells are numbers, "." first; "1,234" alone could be either, so it is refused."""
    filled = [cell for cell in cells if cell.strip().casefold() not in MISSING]
    fits = [sign for sign in SIGNS if all(read_number(cell, sign) is not None for cell in filled)]
    if len(fits) == 2 and any("," in cell for cell in filled):
        value = next(cell for cell in filled if "," in cell)
        raise FileError("decimal_unclear", path=path, value=value.strip())
    return fits[0] if fits else "."


def read_number(cell: str, sign: str) -> float | None:
    """1234.5 and 1,234.5 with the sign "."; 1234,5 and 1.234,5 with the sign ","; None if it is not such a number."""
    text = cell.strip()
    if sign == "." and "," not in text:
        try:
            return None if "_" in text else float(text)
        except ValueError:
            return None
    if GROUPED[sign].fullmatch(text) is None:
        return None
    return float(text.replace("." if sign == "," else ",", "").replace(",", "."))


def _numbers(
    rows: Sequence[tuple[int, list[str]]], i: int, name: str, path: str | Path, sign: str
) -> NDArray[np.float64]:
    values = []
    for line, row in rows:
        value = read_number(row[i], sign)
        if row[i].strip().casefold() in MISSING or (value is not None and not math.isfinite(value)):
            raise FileError("value_missing", path=path, line=line, column=name, value=row[i])
        if value is None:
            raise FileError("not_a_number", path=path, line=line, column=name, value=row[i])
        values.append(value)
    return np.array(values)


def sign_of(key: str, value: object) -> str:
    """The rule of `source.decimal`."""
    return one_of(key, value, SIGNS)
