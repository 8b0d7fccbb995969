"""What commands print: JSON for programs, tables for people; colours only on a terminal."""

from __future__ import annotations

import json
import sys
from typing import Any

from glassformer.errors import GlassformerError
from glassformer.files import without_nan
from glassformer.words import language


def print_json(value: Any) -> None:
    """One JSON document on stdout, Hangul unescaped; NaN and infinity become null."""
    print(json.dumps(without_nan(value), ensure_ascii=False, allow_nan=False, indent=2))


def complain(error: GlassformerError) -> None:
    """One line on stderr, and the command goes on."""
    sys.stderr.write(one_line(error.in_language(language())))


def one_line(text: str) -> str:
    """A text as one line: line breaks become blanks, control characters are escaped."""
    words = " ".join(text.split())
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in words) + "\n"


def warn_of_fonts() -> None:
    """Warn if Korean words in pictures would appear as boxes."""
    from glassformer.fonts import hangul_font
    from glassformer.words import say

    if hangul_font() is None:
        print(say("lesson.no_font"), file=sys.stderr)


def print_found(found: Any, *, json: bool) -> None:
    """The result of a command: its `to_json()` for a program, drawn for a person."""
    if json:
        print_json(found.to_json())
    else:
        print_rich(found)


def print_rich(*values: Any) -> None:
    """Tables and sentences, drawn whole before the first line is written. Brackets in a text are not markup.

    As wide as the terminal, or as COLUMNS says; in a pipe or a file without COLUMNS, a table is as wide as it needs
    (see `room`).
    """
    from rich.console import Console

    from glassformer.show import Sheet, room

    console = Console(width=room(), highlight=False, markup=False, emoji=False, soft_wrap=False)
    with console.capture() as drawn:
        console.print(Sheet(*values), crop=False)
    sys.stdout.write(drawn.get())
