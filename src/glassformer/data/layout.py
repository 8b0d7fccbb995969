"""How a table stands in its file: what parts the columns, and whether the first line names them.

Both are found out from the first rows, and a recipe may say them: `source.delimiter`, `source.header`.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from glassformer.data.columns import names_columns
from glassformer.data.lines import lines
from glassformer.errors import ConfigError, FileError, Phrase

# In this order: a comma also stands inside sentences and numbers, a tab hardly ever.
DELIMITERS = {"\t": "tab", ";": "semicolon", "|": "bar", ",": "comma"}
LOOKED_AT = 200  # lines


@dataclass(frozen=True)
class Layout:
    """What parts the columns; the names of a header, () where there is none."""

    delimiter: str
    header: tuple[str, ...] = ()

    @property
    def phrase(self) -> Phrase:
        """ "separated by commas, header 'text, label' skipped"."""
        names = ", ".join(name.strip() for name in self.header)
        header = Phrase("own.header", (("names", names),)) if self.header else Phrase("own.no_header")
        return Phrase("own.layout", (("delimiter", Phrase(f"own.{DELIMITERS[self.delimiter]}")), ("header", header)))


def find_layout(
    path: str | Path,
    *,
    delimiter: str = "",
    header: bool | None = None,
    names: Callable[[Sequence[str]], bool] = names_columns,
    least: int = 2,
) -> Layout:
    """As given, else found out: see `find_delimiter`; `names` tells a header from a row. `least`: columns."""
    first = list(islice(lines(path), LOOKED_AT + 1))
    if not any(line.strip() for line in first):
        raise FileError("data_empty_file", path=path)
    known = delimiter or find_delimiter(path, first, least)
    filled = (cells for _, cells in split_lines(iter(first), known, path) if any(cell.strip() for cell in cells))
    cells = next(filled, None)
    if cells is None:  # a quotation mark alone, say
        raise FileError("data_empty_file", path=path)
    named = names(cells) if header is None else header
    return Layout(known, tuple(cells) if named else ())


def find_delimiter(path: str | Path, first: Sequence[str], least: int = 2) -> str:
    """A .tsv has tabs. Elsewhere the first that cuts all rows into the same number of columns, two or more."""
    if plain_name(path).endswith(".tsv"):
        return "\t"
    cut = len(first) > LOOKED_AT  # the last row may then go on in lines that were not looked at
    best, agreeing = "", 0
    for delimiter in DELIMITERS:
        widths = [len(cells) for _, cells in split_lines(iter(first), delimiter, path) if cells]
        widths = widths[:-1] if cut else widths
        same = widths.count(widths[0]) if widths and widths[0] > 1 else 0
        if same and same == len(widths):
            return delimiter
        if same > agreeing:
            best, agreeing = delimiter, same
    if agreeing > 1:  # most rows agree: the reader names the line that does not
        return best
    if least == 1:
        return ","
    raise FileError("data_one_column", path=path)


def plain_name(path: str | Path) -> str:
    """A file's name as it would be unpacked, without capitals."""
    return str(path).casefold().removesuffix(".gz").removesuffix(".xz")


def split_lines(
    some: Iterator[str], delimiter: str, path: str | Path, *, strict: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Each row with the number of its last line; [] for an empty one.

    Between tabs a quotation mark is just a character, as corpora have it; elsewhere it quotes, as in any CSV.
    `strict` refuses one that is never closed, or closed in the middle of a cell; a few first lines may end inside one.
    """
    if delimiter == "\t":
        for number, line in enumerate(some, 1):
            yield number, line.split("\t") if line.strip() else []
        return
    reader = csv.reader((f"{line}\n" for line in some), delimiter=delimiter, strict=strict)
    try:
        for row in reader:
            yield reader.line_num, row if any(cell.strip() for cell in row) else []
    except csv.Error as error:
        raise FileError("data_not_csv", path=path, line=reader.line_num, why=str(error)) from error


def table_rows(path: str | Path, layout: Layout) -> Iterator[tuple[int, list[str]]]:
    """Every row below the header with the number of its last line, empty ones as []; one of another width is refused.

    Between tabs a row may have more columns than the first: corpora put remarks there.
    """
    width, waiting = 0, bool(layout.header)
    for number, cells in split_lines(lines(path), layout.delimiter, path, strict=True):
        if cells:
            width = width or len(cells)
            short, long = len(cells) < width, len(cells) > width and layout.delimiter != "\t"
            if (short and layout.delimiter != "\t") or long:
                raise FileError("data_row_width", path=path, line=number, columns=len(cells), needed=width)
            if waiting:
                waiting = False
                continue
        yield number, cells


def delimiter_of(key: str, value: object) -> str:
    """`source.delimiter`: one of four."""
    known = {"\\t": "\t", "tab": "\t"}
    found = known.get(str(value), value)
    if not isinstance(found, str) or found not in DELIMITERS:
        raise ConfigError("not_one_of", key=key, value=value, known="tab ; | ,")
    return found
