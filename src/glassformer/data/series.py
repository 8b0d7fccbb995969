"""Series in time, as they stand in their CSV: a date, then numbers; nothing is scaled, filled in or cut here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from glassformer.data.table import csv_rows
from glassformer.errors import FileError


@dataclass(frozen=True)
class Series:
    """One column per channel, one row per moment: values is t × channels."""

    dates: list[str]
    channels: tuple[str, ...]
    values: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.dates)


def read_series(path: str | Path) -> Series:
    """A CSV whose first column is the date and whose other columns are numbers, such as ETTh1."""
    header, rows = _table(path)
    values = [_numbers(row[1:], path, line) for line, row in rows]
    return Series([row[0] for _, row in rows], tuple(header[1:]), np.array(values, dtype=np.float64))


def read_prices(path: str | Path) -> dict[str, Series]:
    """A CSV of several shares below each other, with the ticker in the last column: one series for each."""
    header, rows = _table(path)
    dates: dict[str, list[str]] = {}
    values: dict[str, list[list[float]]] = {}
    for line, row in rows:
        dates.setdefault(row[-1], []).append(row[0])
        values.setdefault(row[-1], []).append(_numbers(row[1:-1], path, line))
    channels = tuple(header[1:-1])
    return {ticker: Series(dates[ticker], channels, np.array(values[ticker])) for ticker in dates}


def _table(path: str | Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    (_, header), *rows = csv_rows(path)
    if not rows:
        raise FileError("data_empty_file", path=path)
    return header, rows


def _numbers(cells: list[str], path: str | Path, line: int) -> list[float]:
    try:
        return [float(cell) for cell in cells]
    except ValueError as error:
        raise FileError("data_not_number", path=path, line=line, value=", ".join(cells)) from error
