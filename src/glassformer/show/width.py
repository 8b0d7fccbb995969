"""How wide things are: a text in columns of a terminal (Hangul takes two), and the terminal itself."""

from __future__ import annotations

import os
import re
import sys
from typing import TextIO

from rich.cells import cell_len

UNBOUNDED = 100_000  # a pipe has no width
_WIDE = r"(?<=[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff])(?=\S)"  # Chinese and Japanese do without blanks
_FORMULA = r"(?<=[\w)][×+])(?<!\de\+)(?=[\w(])"  # d_model×d_ff+d_ff may go on below, 1e+06 may not
_BREAKS = re.compile(f"{_WIDE}|{_FORMULA}")


def room(file: TextIO | None = None) -> int:
    """The columns there are: COLUMNS if it is set, else the terminal's; a pipe has as many as the text wants.

    Whoever reads a pipe is a program or a pager: it wants every column of a table, and folds lines itself if it must.
    """
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given) > 0:
        return int(given)
    file = file or sys.stdout
    try:
        return (os.get_terminal_size(file.fileno()).columns if file.isatty() else 0) or UNBOUNDED
    except (OSError, ValueError):  # closed, or no file of the system
        return UNBOUNDED


def width(text: str) -> int:
    """Of the widest line."""
    return max((cell_len(line) for line in text.split("\n")), default=0)


def atoms(line: str) -> list[str]:
    """The pieces that are never parted, each with the blanks behind it: a number, a name, a path are one piece."""
    words = re.findall(r"\s*\S+\s*|\s+", line)
    return [piece for word in words for piece in ([word] if "/" in word else _BREAKS.split(word))]


def longest(text: str) -> int:
    """The width that a text needs at least: its widest piece, indented like the line that it stands in."""
    pieces = ((_inset(line), atom) for line in text.split("\n") for atom in atoms(line))
    return max((inset + cell_len(atom.strip()) for inset, atom in pieces), default=0)


def _inset(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def wrap(text: str, columns: int, hang: int = 0) -> list[str]:
    """Lines of at most so many columns, parted at blanks only; what is longer than a line stays whole.

    A line that is indented stays so, and what follows it is indented by `hang` more.
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
