"""Answers that show themselves: a list is a table at the prompt, in a terminal and in a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import ClassVar, Protocol, TypeVar

from rich.console import Console
from rich.table import Table
from rich.text import Text

from glassformer.words import say

WIDTH = 140


class Answer(Protocol):
    """One answer: the keys of its columns under `answers` in words/, and its lines."""

    columns: ClassVar[tuple[str, ...]]

    def lines(self) -> list[list[str]]: ...


T = TypeVar("T", bound=Answer)


class Answers(list[T]):
    """A list like any other; only its looks are different."""

    def __rich__(self) -> Table:
        return table(self)

    def __repr__(self) -> str:
        return drawn(self)

    def _repr_html_(self) -> str:
        return html(self)


def table(answers: Sequence[Answer], lang: str | None = None) -> Table:
    """All of them, a line or several for each."""
    made = Table(header_style="bold")
    for name in titles(answers, lang):
        made.add_column(name, overflow="fold")
    for one in answers:
        for cells in one.lines():
            made.add_row(*map(Text, cells))
    return made


def titles(answers: Sequence[Answer], lang: str | None = None) -> list[str]:
    return [say(f"answers.{key}", lang) for key in answers[0].columns] if answers else []


def drawn(answers: Sequence[Answer]) -> str:
    console = Console(width=WIDTH, highlight=False)
    with console.capture() as text:
        console.print(table(answers))
    return text.get()


def html(answers: Sequence[Answer], lang: str | None = None) -> str:
    """The same for a notebook."""

    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    rows = [line(cells, "td") for one in answers for cells in one.lines()]
    return f"<table>{line(titles(answers, lang), 'th')}{''.join(rows)}</table>"
