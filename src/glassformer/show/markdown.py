"""Tables in a Markdown text, shown with our `Table`: rich's own would split numbers in a narrow terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator

from glassformer.show.table import Column, Table

_TABLE = re.compile(r"^\|.*\|[ \t]*\n\|[ :|-]+\|[ \t]*(?:\n\|.*\|[ \t]*)*$", re.MULTILINE)
_BAR = re.compile(r"(?<!\\)\|")
_MARKS = re.compile(r"(\*\*|__|\*|`)(?=\S)(.+?)(?<=\S)\1")


def prose_and_tables(text: str, lang: str | None = None) -> Iterator[str | Table]:
    """The parts of a text in order: tables become `Table`s, the rest stays Markdown."""
    end = 0
    for found in _TABLE.finditer(text):
        yield from _prose(text[end : found.start()])
        yield _table(found[0], lang)
        end = found.end()
    yield from _prose(text[end:])


def _prose(text: str) -> Iterator[str]:
    if text.strip():
        yield text.strip("\n")


def _table(text: str, lang: str | None) -> Table:
    titles, sides, *rows = map(_cells, text.splitlines())
    columns = (
        Column(title, "number" if side.endswith(":") else "text") for title, side in zip(titles, sides, strict=True)
    )
    table = Table(*columns, lang=lang)
    for cells in rows:
        table.add(*(*cells, *[""] * len(titles))[: len(titles)])  # Markdown allows a row to end early
    return table


def _cells(line: str) -> list[str]:
    """The cells of a row, without the marks of `code` and **bold**, which a terminal does not show."""
    inside = line.strip()[1:-1]
    return [_MARKS.sub(r"\2", cell.strip()).replace("\\|", "|").replace("<br>", "\n") for cell in _BAR.split(inside)]
