"""Markdown of lessons and pages as HTML: tables in boxes that scroll, names of lessons as links, no foreign markup."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from html import escape
from typing import Any

from glassformer.lessons.catalogue import NUMBERS

BOX = '<div class="scroll" tabindex="0" role="group">'  # a keyboard reaches it; the script says where it goes on


def boxed(table: str) -> str:
    """A table in a box of its own, in which it can be moved sideways."""
    return f"{BOX}{table}</div>"


@cache
def _reader() -> Any:
    """CommonMark with tables. HTML inside a text is shown as text."""
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    reader.add_render_rule("code_inline", _code)
    reader.add_render_rule("table_open", lambda *_: f"{BOX}<table>\n")
    reader.add_render_rule("table_close", lambda *_: "</table></div>\n")
    reader.add_render_rule("fence", _block)
    return reader


def _code(self: Any, tokens: Any, at: int, options: Any, env: Any) -> str:
    text = tokens[at].content
    code = f"<code>{escape(text)}</code>"
    number = NUMBERS.get(text)
    return code if number is None else f'<a href="#{text}"><small>{number}</small>&nbsp;{code}</a>'


def _block(self: Any, tokens: Any, at: int, options: Any, env: Any) -> str:
    return f'<pre tabindex="0"><code>{escape(tokens[at].content)}</code></pre>\n'


def html(text: str, *, level: int = 3, inserts: Mapping[str, str] | None = None) -> str:
    """A text with its highest heading at `level`; `inserts` are marks in it and the HTML that takes their place."""
    tokens = _reader().parse(text)
    highest = min((int(token.tag[1]) for token in tokens if token.type == "heading_open"), default=level)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) - highest + level)}"
    made: str = _reader().renderer.render(tokens, _reader().options, {})
    for mark, insert in (inserts or {}).items():
        made = made.replace(f"<p>{mark}</p>", insert).replace(mark, insert)
    return made


def line(text: str) -> str:
    """One line of Markdown, without a paragraph around it."""
    made: str = _reader().renderInline(text)
    return made
