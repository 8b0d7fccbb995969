"""A user's own file or folder, before training: the tasks it could be for, judged by its content.

Nothing is guessed: for a file that could be two things the command line prints both commands. The names of tasks stand
here because they are told apart by their files; a task with other files is named with --task.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from glassformer.data.channel import MISSING, SIGNS, read_number
from glassformer.data.keyed import is_keyed, keyed_objects
from glassformer.data.lines import plain_name, read_lines
from glassformer.data.moments import is_moment
from glassformer.data.table import (
    LABEL_COLUMNS,
    LANGUAGE_COLUMNS,
    NUMBER_COLUMNS,
    SOURCE_COLUMNS,
    TARGET_COLUMNS,
    TEXT_COLUMNS,
    find_layout,
    is_called,
    label_columns,
    names_columns,
    table_rows,
)
from glassformer.errors import FileError
from glassformer.runs import is_run

TABLE_SUFFIXES = (".tsv", ".csv", ".tab", ".psv")
LOOKED_AT = 2000  # rows
MOST_LABELS = 50  # distinct values that still count as labels
PROSE = (".txt", ".md", ".text", "")


def is_own(path: Path) -> bool:
    """Whether a name on the command line means data: a folder that is no run, or a file that is not a recipe."""
    return (path.is_dir() and not is_run(path)) or (path.is_file() and path.suffix.casefold() != ".toml")


def possible_tasks(path: Path) -> tuple[str, ...]:
    """The tasks that a file or folder could be for: one if the content shows it, two if it could be either."""
    if path.is_dir():
        if not any(each.is_dir() for each in path.iterdir()):
            raise FileError("own_folder", path=path)
        return ("image_classification",)
    if is_keyed(path):
        return _of_objects(path)
    ending = Path(plain_name(path)).suffix
    if ending in TABLE_SUFFIXES or _has_tabs(path):
        return _of_table(path)
    if ending in PROSE:
        return ("language_model",)
    raise FileError("own_unknown", path=path, known=", ".join((*TABLE_SUFFIXES, ".jsonl", ".parquet", ".txt")))


def _has_tabs(path: Path) -> bool:
    """Whether a text has the same number of tabs in every line, as Excel's "text" has."""
    some = [line for line in islice(read_lines(path), 20) if line.strip()]
    return len(some) > 1 and len({line.count("\t") for line in some}) == 1 and "\t" in some[0]


def _of_objects(path: Path) -> tuple[str, ...]:
    first = next((row for _, row in keyed_objects(path)), None)
    if first is None:
        raise FileError("data_empty_file", path=path)
    names = [name for name, value in first.items() if isinstance(value, str | int)]
    if len(names) == 1:
        return ("language_model",)
    return _by_name(names) or ("translation", "classification")


def _by_name(names: Sequence[str]) -> tuple[str, ...]:
    """The tasks by the names of the columns; two if they are ambiguous: "target" may be a translation or a label."""
    kept = [name for name in names if not is_called(name, NUMBER_COLUMNS)]
    if len(kept) == 2 and all(is_called(name, LANGUAGE_COLUMNS, SOURCE_COLUMNS, TARGET_COLUMNS) for name in kept):
        return ("translation",)
    labelled = any(is_called(name, LABEL_COLUMNS - TARGET_COLUMNS) for name in kept)
    if (labelled or any(is_called(name, TEXT_COLUMNS) for name in kept)) and label_columns(names) is not None:
        return ("classification",) if labelled else ("translation", "classification")
    return ()


def _of_table(path: Path) -> tuple[str, ...]:
    layout = find_layout(path, names=lambda cells: names_columns(cells) or label_columns(cells) is not None)
    if layout.header and (tasks := _by_name(layout.header)):
        return tasks
    rows = [cells for _, cells in islice(table_rows(path, layout), LOOKED_AT) if cells]
    if not layout.header and len(rows) > 1 and not any(is_moment(cell) for cell in rows[0]):
        rows = rows[1:] if _is_header(rows) else rows
    columns = list(zip(*(row[: min(map(len, rows))] for row in rows), strict=True))
    dates = [i for i, cells in enumerate(columns) if all(is_moment(cell) for cell in cells)]
    numbers = [i for i, cells in enumerate(columns) if i not in dates and _are_numbers(cells)]
    texts = [cells for i, cells in enumerate(columns) if i not in (*dates, *numbers)]
    if dates and numbers:
        return ("forecasting", "classification") if any(map(_are_sentences, texts)) else ("forecasting",)
    if not texts:
        raise FileError("own_numbers", path=path)
    if len(columns) == 2 and len(texts) == 1 and numbers:  # "a text", 1
        return ("classification",)
    return _of_two_columns([*texts, *(columns[i] for i in numbers)][:2])


def _is_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row holds unknown names: words where the next row has a date or only numbers."""
    first, second = rows[0], rows[1]
    return any(map(is_moment, second)) or (_are_numbers(second) and not any(_are_numbers([cell]) for cell in first))


def _of_two_columns(columns: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """By repetition: labels repeat, translations do not; both tasks if it is not clear."""
    counts = [Counter(cell.strip() for cell in cells) for cells in columns]
    for found in counts:
        if len(found) <= MOST_LABELS and sum(found.values()) >= 5 * len(found) and min(found.values()) > 1:
            return ("classification",)
    if all(len(found) >= 0.5 * sum(found.values()) and len(found) >= 20 for found in counts):
        return ("translation",)
    return ("translation", "classification")


def _are_numbers(cells: Sequence[str]) -> bool:
    filled = [cell for cell in cells if cell.strip().casefold() not in MISSING]
    return bool(filled) and any(all(read_number(cell, sign) is not None for cell in filled) for sign in SIGNS)


def _are_sentences(cells: Sequence[str]) -> bool:
    return sum(" " in cell.strip() for cell in cells) > len(cells) / 2
