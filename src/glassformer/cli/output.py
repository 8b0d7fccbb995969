"""What commands print: JSON for programs, tables for people; colours only on a terminal."""

from __future__ import annotations

import json
import sys
from typing import Any

from glassformer.errors import GlassformerError
from glassformer.files import without_nan
from glassformer.words import language


def print_json(value: Any) -> None:
    """One JSON document on stdout, Hangul as Hangul; what is not finite is null."""
    print(json.dumps(without_nan(value), ensure_ascii=False, allow_nan=False, indent=2))


def complain(error: GlassformerError) -> None:
    """One line on stderr, and the command goes on."""
    sys.stderr.write(one_line(error.in_language(language())))


def one_line(text: str) -> str:
    """Whatever the values hold: no line breaks, nothing that a terminal would obey."""
    words = " ".join(text.split())
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in words) + "\n"


def warn_of_fonts() -> None:
    """One line where pictures with Korean words would show boxes."""
    from glassformer.fonts import hangul_font
    from glassformer.words import say

    if hangul_font() is None:
        print(say("lesson.no_font"), file=sys.stderr)


def print_found(found: Any, *, json: bool) -> None:
    """What a command has found: its `to_json()` for a program, drawn for a person."""
    if json:
        print_json(found.to_json())
    else:
        print_rich(found)


def print_rich(*values: Any) -> None:
    """Tables and sentences, drawn whole before the first line is written. Brackets in a text are just brackets.

    As wide as the terminal, or as COLUMNS says; into a pipe or a file without COLUMNS, a table gets all the width it
    wants (see `room`).
    """
    from rich.console import Console

    from glassformer.show import Sheet, room

    console = Console(width=room(), highlight=False, markup=False, emoji=False, soft_wrap=False)
    with console.capture() as drawn:
        console.print(Sheet(*values), crop=False)
    sys.stdout.write(drawn.get())
