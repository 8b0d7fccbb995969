"""Sentence pairs out of files of one's own: a table (.tsv, .csv …) or JSON lines, whatever their columns are called."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from glassformer.data.columns import pair_columns
from glassformer.data.form import Form, is_jsonl, place, width
from glassformer.data.jsonl import read_jsonl
from glassformer.data.layout import Layout, table_rows
from glassformer.data.pairs import Pairs, gather
from glassformer.errors import FileError

FOUND_OUT = Form()


def read_pairs(path: str | Path, form: Form = FOUND_OUT) -> Pairs:
    """All pairs of a file, plain or packed. The first column is the source, unless the header says otherwise."""
    if is_jsonl(path):
        return read_jsonl(path, *form.keys(path, pair_columns))
    layout = form.layout(path)
    places = pair_places(path, layout, form)
    return gather(_sides(path, layout, places), path, first_line=2 if layout.header else 1)


def pair_places(path: str | Path, layout: Layout, form: Form) -> tuple[int, int]:
    """Where source and target stand, from 0."""
    names = layout.header or [""] * width(path, layout)
    given = form.places(path, names)
    if given is not None:
        return given[0], given[1]
    if len(names) < 2:
        place(2, names, path)  # says that there is no second
    found = pair_columns(names) if layout.header else (0, 1)
    if found is None:
        raise FileError("columns_unclear", path=path, known=", ".join(names))
    return found


def _sides(path: str | Path, layout: Layout, places: tuple[int, int]) -> Iterator[tuple[str, str]]:
    """Both sides of each row; an empty line is an empty row, which the reader leaves out and counts."""
    needed = max(places) + 1
    for number, cells in table_rows(path, layout):
        if cells and len(cells) < needed:
            raise FileError("data_row_short", path=path, line=number, columns=len(cells), needed=needed)
        yield (cells[places[0]], cells[places[1]]) if cells else ("", "")
