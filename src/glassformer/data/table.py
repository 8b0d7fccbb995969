"""Tables as the sets of the catalogue have them: TSV without quotes, columns by name or by number; CSV with quotes."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from glassformer.data.form import Column, place
from glassformer.data.lines import lines
from glassformer.data.pairs import Pairs, gather
from glassformer.errors import FileError


def read_tsv(path: str | Path, source: Column = 1, target: Column = 2, header: bool = False) -> Pairs:
    """The pairs in two columns. A column given by name means that there is a header."""
    header = header or named((source, target))
    rows = tsv_rows(path, (source, target), header)
    return gather(((first, second) for first, second in rows), path, first_line=2 if header else 1)


def tsv_rows(path: str | Path, columns: Sequence[Column], header: bool = False) -> Iterator[tuple[str, ...]]:
    """The chosen columns of every line. A quotation mark is just a character, and a tab always ends a column."""
    rows = lines(path)
    first = next(rows, None)
    if first is None:
        raise FileError("data_empty_file", path=path)
    header = header or named(columns)
    places = [place(column, first.split("\t"), path) for column in columns]
    needed = max(places) + 1
    for number, line in enumerate(rows if header else chain([first], rows), 2 if header else 1):
        cells = line.split("\t")
        if len(cells) < needed:
            if line:
                raise FileError("data_row_short", path=path, line=number, columns=len(cells), needed=needed)
            cells = [""] * needed  # an empty line is an empty row, which the reader leaves out and counts
        yield tuple(cells[place] for place in places)


def named(columns: Sequence[Column]) -> bool:
    """Whether the first line is a header."""
    return any(isinstance(column, str) for column in columns)


def csv_rows(path: str | Path) -> Iterator[tuple[int, list[str]]]:
    """Every row of a CSV with the number of its last line, the header first; all rows are as wide as the header."""
    reader = csv.reader(f"{line}\n" for line in lines(path))
    width = 0
    try:
        for row in reader:
            width = width or len(row)
            if len(row) != width:
                raise FileError("data_row_short", path=path, line=reader.line_num, columns=len(row), needed=width)
            yield reader.line_num, row
    except csv.Error as error:
        raise FileError("data_not_csv", path=path, line=reader.line_num, why=str(error)) from error
    if not width:
        raise FileError("data_empty_file", path=path)
