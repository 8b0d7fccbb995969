"""Texts, each with a label, a word or a number: the data of a classifier, from your own files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from glassformer.data.corpus import content_mark, held_out
from glassformer.data.keyed import is_keyed, keyed_objects
from glassformer.data.lines import text_of
from glassformer.data.pairs import BLANKS
from glassformer.data.table import ColumnLayout, ColumnName, Form, label_columns, names_columns, table_rows
from glassformer.errors import FileError, shown

FOUND_OUT = Form()


@dataclass(frozen=True)
class Texts:
    """All texts of a file in order, and the label of each as in the file."""

    texts: list[str]
    labels: list[str]

    def __len__(self) -> int:
        return len(self.texts)

    def chosen(self, indexes: Iterable[int]) -> Texts:
        """Some of them, in the order given."""
        indexes = list(indexes)
        return Texts([self.texts[i] for i in indexes], [self.labels[i] for i in indexes])


def read_texts(path: str | Path, form: Form = FOUND_OUT) -> Texts:
    """A table, a .jsonl or a .parquet, plain or packed.

    Raises for a row without a text or a label, naming its line.
    """
    rows, columns = _jsonl(path, form) if is_keyed(path) else _table(path, form)
    found = Texts([], [])
    for line, *both in rows:
        for column, value in zip(columns, both, strict=True):
            if not value:
                raise FileError("data_blank", path=path, line=line, column=column)
        found.texts.append(both[0])
        found.labels.append(both[1])
    if not len(found):
        raise FileError("data_empty_file", path=path)
    return found


LabelledRows = Iterator[tuple[int, str, str]]  # (line, text, label)


def _table(path: str | Path, form: Form) -> tuple[LabelledRows, list[ColumnName]]:
    layout = label_layout(path, form)
    rows = [(line, cells) for line, cells in table_rows(path, layout) if cells]
    places = label_places(path, layout, form, [cells for _, cells in rows])
    if form.header is None and not layout.header:
        _refuse_doubt(path, [cells[places[1]].strip(BLANKS) for _, cells in rows if len(cells) > max(places)])
    needed = max(places) + 1
    for line, cells in rows:
        if len(cells) < needed:
            raise FileError("data_row_short", path=path, line=line, columns=len(cells), needed=needed)
    read = ((line, cells[places[0]].strip(BLANKS), cells[places[1]].strip(BLANKS)) for line, cells in rows)
    return read, [layout.header[i].strip() if layout.header else i + 1 for i in places]


def label_layout(path: str | Path, form: Form) -> ColumnLayout:
    """The layout of a table; a first line with a known name of a text or label is a header."""
    return form.layout(path, lambda cells: label_columns(cells) is not None or names_columns(cells))


def label_places(path: str | Path, layout: ColumnLayout, form: Form, rows: Sequence[list[str]]) -> tuple[int, int]:
    """The columns of text and label, from 0: as given, or by name; of two without names, the label has fewer values."""
    names = layout.header or (tuple("" for _ in rows[0]) if rows else ())
    given = form.places(path, names)
    if given is not None:
        return given[0], given[1]
    found = label_columns(layout.header) if layout.header else None
    if found is not None:
        return found
    if len(names) != 2:
        known = ", ".join(layout.header) or f"1–{len(names)}"
        raise FileError("columns_unclear", path=path, known=known)
    first, second = (len({cells[i].strip() for cells in rows if len(cells) > i}) for i in (0, 1))
    return (1, 0) if first < second else (0, 1)


def _refuse_doubt(path: str | Path, labels: Sequence[str]) -> None:
    """Raises if only the first line's label is unique while all others repeat: it may be an unknown header."""
    others = Counter(labels[1:])
    if len(others) > 1 and labels[0] not in others and min(others.values()) > 1:
        raise FileError("header_unclear", path=path, label=labels[0])


def _jsonl(path: str | Path, form: Form) -> tuple[LabelledRows, list[ColumnName]]:
    text, label = form.keys(path, label_columns)
    return _objects(path, text, label), [text, label]


def _objects(path: str | Path, text: str, label: str) -> LabelledRows:
    for line, row in keyed_objects(path, (text, label)):
        words = text_of(row, text, path, line).strip(BLANKS)
        mark = row.get(label, "")
        if label in row and not isinstance(mark, str):  # true, 3: as written
            if not isinstance(mark, int):  # null, NaN, 0.5, a list
                raise FileError("data_not_label", path=path, line=line, name=label, value=shown(mark))
            row = {**row, label: json.dumps(mark)}
        yield line, words, text_of(row, label, path, line).strip(BLANKS)


def apart(texts: Texts, number: int, seed: int) -> tuple[Texts, Texts]:
    """(the rest, about `number` texts held out): drawn by seed, the same share of each label, no text in both."""
    marks = [content_mark(seed, text.encode()) for text in texts.texts]
    return held_out(texts, marks, number, texts.labels)
