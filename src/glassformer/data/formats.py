"""The formats of the sets of the catalogue: TSV without quotes, CSV with them, labelled texts, dialogues, series, IDX.

Nothing is scaled, filled in or cut here.
"""

from __future__ import annotations

import csv
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from glassformer.data.lines import blocks, read_lines
from glassformer.data.pairs import Pairs, gather
from glassformer.data.table import ColumnName, column_index
from glassformer.errors import FileError

UNSIGNED_BYTES = 8


def read_tsv(path: str | Path, source: ColumnName = 1, target: ColumnName = 2, header: bool = False) -> Pairs:
    """The pairs in two columns. A column given by name means that there is a header."""
    header = header or has_header((source, target))
    rows = tsv_rows(path, (source, target), header)
    return gather(((first, second) for first, second in rows), path, first_line=2 if header else 1)


def tsv_rows(path: str | Path, columns: Sequence[ColumnName], header: bool = False) -> Iterator[tuple[str, ...]]:
    """The chosen columns of every line. A quotation mark is an ordinary character, and a tab always ends a column."""
    rows = read_lines(path)
    first = next(rows, None)
    if first is None:
        raise FileError("data_empty_file", path=path)
    header = header or has_header(columns)
    places = [column_index(column, first.split("\t"), path) for column in columns]
    needed = max(places) + 1
    for number, line in enumerate(rows if header else chain([first], rows), 2 if header else 1):
        cells = line.split("\t")
        if len(cells) < needed:
            if line:
                raise FileError("data_row_short", path=path, line=number, columns=len(cells), needed=needed)
            cells = [""] * needed  # an empty line is an empty row, which the reader skips and counts
        yield tuple(cells[place] for place in places)


def has_header(columns: Sequence[ColumnName]) -> bool:
    """Whether the first line is a header."""
    return any(isinstance(column, str) for column in columns)


def csv_rows(path: str | Path) -> Iterator[tuple[int, list[str]]]:
    """Every row of a CSV with the number of its last line, the header first; all rows are as wide as the header."""
    reader = csv.reader(f"{line}\n" for line in read_lines(path))
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


@dataclass(frozen=True)
class LabelledTable:
    """Texts and their labels; `empty` counts texts that are empty in the original; they are kept."""

    texts: list[str]
    labels: list[int]

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def empty(self) -> int:
        return sum(not text for text in self.texts)


@dataclass(frozen=True)
class Dialogue:
    """Questions, answers, and a label of the subject."""

    questions: list[str]
    answers: list[str]
    labels: list[int]

    def __len__(self) -> int:
        return len(self.questions)


def read_labelled_tsv(path: str | Path, text: str = "document", label: str = "label") -> LabelledTable:
    """A TSV with a header, without quoting: a quotation mark in a review is an ordinary character."""
    found = LabelledTable([], [])
    for number, (words, mark) in enumerate(tsv_rows(path, (text, label)), 2):
        found.texts.append(words)
        found.labels.append(_whole(mark, path, number))
    return found


def read_dialogue_csv(path: str | Path) -> Dialogue:
    """A CSV with a header and three columns: question, answer, label."""
    found = Dialogue([], [], [])
    for line, row in csv_rows(path):
        if len(row) < 3:
            raise FileError("data_row_short", path=path, line=line, columns=len(row), needed=3)
        if line > 1:
            found.questions.append(row[0])
            found.answers.append(row[1])
            found.labels.append(_whole(row[2], path, line))
    return found


def _whole(text: str, path: str | Path, line: int) -> int:
    if not (text.strip().isascii() and text.strip().isdigit()):
        raise FileError("data_not_number", path=path, line=line, value=text)
    return int(text)


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
    """A CSV of several shares, one after another, with the ticker in the last column: one series for each."""
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


@dataclass(frozen=True)
class Images:
    """Grey images, n × height × width, and the class of each; bytes as stored."""

    images: NDArray[np.uint8]
    labels: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.labels)


def read_images(images: str | Path, labels: str | Path) -> Images:
    """Images and labels from two IDX files of the same count."""
    pictures, classes = read_idx(images), read_idx(labels)
    if len(pictures) != len(classes):
        raise FileError("data_image_counts", path=labels, found=len(classes), expected=len(pictures))
    return Images(pictures, classes)


def read_idx(path: str | Path) -> NDArray[np.uint8]:
    """One IDX file of unsigned bytes, plain or packed."""
    content = b"".join(blocks(Path(path)))
    axes = content[3] if len(content) >= 4 else 0
    start = 4 + 4 * axes
    if content[:3] != bytes((0, 0, UNSIGNED_BYTES)) or not axes or len(content) < start:
        raise FileError("data_not_idx", path=path)
    sizes = struct.unpack(f">{axes}I", content[4:start])
    if len(content) - start != prod(sizes):
        raise FileError("data_idx_size", path=path, sizes=" × ".join(map(str, sizes)), found=len(content) - start)
    return np.frombuffer(content, dtype=np.uint8, offset=start).reshape(sizes)
