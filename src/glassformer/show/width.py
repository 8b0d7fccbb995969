"""Widths in terminal columns (Hangul takes two): of a text, and of the terminal."""

from __future__ import annotations

import os
import re
import sys
from typing import TextIO

from rich.cells import cell_len

UNBOUNDED = 100_000  # a pipe has no width
_WIDE = r"(?<=[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff])(?=\S)"  # Chinese and Japanese have no spaces
_FORMULA = r"(?<=[\w)][×+])(?<!\de\+)(?=[\w(])"  # d_model×d_ff+d_ff may be split, 1e+06 may not
_BREAKS = re.compile(f"{_WIDE}|{_FORMULA}")


def room(file: TextIO | None = None) -> int:
    """The available columns: COLUMNS if set, else the terminal's; a pipe is unbounded.

    A program or pager that reads a pipe wants every column of a table, and wraps lines itself if necessary.
    """
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given) > 0:
        return int(given)
    file = file or sys.stdout
    try:
        return (os.get_terminal_size(file.fileno()).columns if file.isatty() else 0) or UNBOUNDED
    except (OSError, ValueError):  # closed, or not a system file
        return UNBOUNDED


def width(text: str) -> int:
    """The width of the widest line."""
    return max((cell_len(line) for line in text.split("\n")), default=0)


def atoms(line: str) -> list[str]:
    """The pieces that are never split (a number, a name, a path), each with the spaces after it."""
    words = re.findall(r"\s*\S+\s*|\s+", line)
    return [piece for word in words for piece in ([word] if "/" in word else _BREAKS.split(word))]


def longest(text: str) -> int:
    """The least width of a text: its widest piece, indented like its line."""
    pieces = ((_inset(line), atom) for line in text.split("\n") for atom in atoms(line))
    return max((inset + cell_len(atom.strip()) for inset, atom in pieces), default=0)


def _inset(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def wrap(text: str, columns: int, hang: int = 0) -> list[str]:
    """Lines of at most `columns` columns, split at spaces only; a longer piece stays whole.

    An indented line stays indented, and its continuation is indented by `hang` more.
    """
    return [part for line in text.split("\n") for part in _wrap_line(line, columns, hang)]


def _wrap_line(line: str, columns: int, hang: int) -> list[str]:
    inset = " " * (_inset(line) + hang)
    lines, current = [], ""
    for atom in atoms(line):
        if current.strip() and cell_len((current + atom).rstrip()) > columns:
            lines.append(current.rstrip())
            current = inset + atom.lstrip()
        else:
            current += atom
    return [*lines, current.rstrip()]
