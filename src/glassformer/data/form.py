"""What a recipe says of files of one's own and which of their columns are meant; what it leaves out is found out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from glassformer.data.columns import names_columns
from glassformer.data.jsonl import jsonl_objects
from glassformer.data.layout import Layout, find_layout, plain_name, table_rows
from glassformer.errors import FileError

Column = int | str  # a number counts from 1, as in `cut -f`; a name stands in the first line


@dataclass(frozen=True)
class Form:
    """`source.columns`, `source.delimiter` and `source.header`; None and "": found out from the file."""

    columns: Sequence[Column] | None = None
    delimiter: str = ""
    header: bool | None = None

    def layout(self, path: str | Path, names: Callable[[Sequence[str]], bool] = names_columns) -> Layout:
        """How the table stands in its file. A column given by name means that there is a header."""
        named = any(isinstance(column, str) for column in self.columns or ())
        return find_layout(path, delimiter=self.delimiter, header=True if named else self.header, names=names)

    def places(self, path: str | Path, names: Sequence[str]) -> list[int] | None:
        """Where the columns stand that the recipe names, from 0; None where it names none."""
        return None if self.columns is None else [place(column, names, path) for column in self.columns]

    def keys(self, path: str | Path, find: Callable[[Sequence[str]], tuple[int, int] | None]) -> tuple[str, str]:
        """The two keys of a .jsonl: as the recipe names them, else as `find` tells from the first object."""
        line, first = next(iter(jsonl_objects(path)), (0, None))
        if first is None:
            raise FileError("data_empty_file", path=path)
        known = list(first)
        if len(known) < 2:  # naming columns would not help
            raise FileError("data_row_short", path=path, line=line, columns=len(known), needed=2)
        if self.columns is not None and all(isinstance(column, str) for column in self.columns):
            one, other = map(str, self.columns)
            return one, other
        found = self.places(path, known) or find(known)
        if found is None:
            raise FileError("columns_unclear", path=path, known=", ".join(known))
        return known[found[0]], known[found[1]]


def place(column: Column, names: Sequence[str], path: str | Path) -> int:
    """Where a column stands, from 0; around its name blanks do not count."""
    match column:
        case str() if column in [name.strip() for name in names]:
            return [name.strip() for name in names].index(column)
        case int() if 1 <= column <= len(names):
            return column - 1
    known = ", ".join(names) if isinstance(column, str) else f"1–{len(names)}"
    raise FileError("data_no_column", path=path, column=column, known=known)


def is_jsonl(path: str | Path) -> bool:
    return plain_name(path).endswith(".jsonl")


def width(path: str | Path, layout: Layout) -> int:
    """How many columns there are: those of the header, else of the first row."""
    return len(layout.header) or next((len(cells) for _, cells in table_rows(path, layout) if cells), 0)
