"""Results as they are: a table in a terminal, plain text at a prompt, HTML in a notebook."""

from __future__ import annotations

from html import escape
from io import StringIO

from rich.console import Console, RenderableType

WIDTH = 140


def as_text(shown: RenderableType) -> str:
    """What a terminal would show, without colours."""
    console = Console(file=StringIO(), width=WIDTH, force_jupyter=False, highlight=False, color_system=None)
    with console.capture() as text:
        console.print(shown)
    return text.get()


def as_html(shown: RenderableType) -> str:
    """The same for a notebook."""
    return f"<pre>{escape(as_text(shown))}</pre>"
