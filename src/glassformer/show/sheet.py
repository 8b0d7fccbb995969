"""Sentences and tables below one another: how a result is shown in a terminal and in a notebook."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from glassformer.show.table import Styled, Table
from glassformer.show.template import broken
from glassformer.show.width import room, wrap

if TYPE_CHECKING:
    from markupsafe import Markup

SheetPart = str | Styled | Table | Any  # Any: whatever else rich can show


class Sheet:
    """Parts in reading order. Sentences are wrapped at spaces only: a path or a number stays whole."""

    def __init__(self, *parts: SheetPart) -> None:
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

    def to_html(self) -> Markup:
        from markupsafe import Markup

        return Markup("").join(map(_html, self.parts))


def _wrapped(text: str, style: str, columns: int) -> Text:
    hang = 2 if text.startswith("- ") else 0
    return Text("\n".join(wrap(text, columns, hang)), style=style, no_wrap=True, overflow="ignore")


def _html(part: SheetPart) -> Markup:
    from markupsafe import Markup

    match part:
        case Styled():
            return Markup("<p><b>{}</b></p>").format(broken(part.text))
        case str():
            return Markup("<p>{}</p>").format(broken(part))
        case Table() | Sheet():
            return part.to_html()
    return Markup("<pre>{}</pre>").format(as_text(part))


def as_text(shown: Any, columns: int | None = None) -> str:
    """What a terminal would show, without colours; as wide as the current terminal unless `columns` is given."""
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


def as_html(*parts: SheetPart) -> str:
    """The same for a notebook."""
    return Sheet(*parts).to_html()
