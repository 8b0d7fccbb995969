"""Sentences and tables below each other: what a result shows in a terminal, at a prompt and in a notebook."""

from __future__ import annotations

from html import escape
from io import StringIO
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from glassformer.show.table import Styled, Table
from glassformer.show.width import room, wrap

Part = str | Styled | Table | Any  # Any: whatever else rich can show


class Sheet:
    """Parts in the order in which they are read. Sentences are wrapped at blanks: a path or a number stays whole."""

    def __init__(self, *parts: Part) -> None:
        self.parts = parts

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for part in self.parts:
            match part:
                case Styled():
                    yield _wrapped(part.text, part.style, options.max_width)
                case str():
                    yield _wrapped(part, "", options.max_width)
                case _:
                    yield part

    def to_html(self) -> str:
        return "".join(map(_html, self.parts))


def _wrapped(text: str, style: str, columns: int) -> Text:
    hang = 2 if text.startswith("- ") else 0
    return Text("\n".join(wrap(text, columns, hang)), style=style, no_wrap=True, overflow="ignore")


def _html(part: Part) -> str:
    match part:
        case Styled():
            return f"<p><b>{_lines(part.text)}</b></p>"
        case str():
            return f"<p>{_lines(part)}</p>"
        case Table() | Sheet():
            return part.to_html()
    return f"<pre>{escape(as_text(part))}</pre>"


def _lines(text: str) -> str:
    return escape(text).replace("\n", "<br>")


def as_text(shown: Any, columns: int | None = None) -> str:
    """What a terminal would show, without colours; as wide as the one there is, unless told otherwise."""
    console = Console(
        file=StringIO(),
        width=columns or room(),
        force_jupyter=False,
        highlight=False,
        markup=False,
        emoji=False,
        color_system=None,
    )
    console.print(shown, crop=False)
    return console.file.getvalue()  # type: ignore[attr-defined]


def as_html(*parts: Part) -> str:
    """The same for a notebook."""
    return Sheet(*parts).to_html()
