"""Texts as HTML: Markdown, equations, Korean words on an English page, and places where a line must not break.

HTML inside a text is escaped. All functions return `Markup`, which templates insert unescaped.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from markupsafe import Markup, escape

from glassformer.lessons.catalogue import NUMBERS

BOX = '<div class="scroll" tabindex="0" role="group">'  # lets a table scroll, also by keyboard


# --- Markdown ---


@cache
def _reader() -> Any:
    """The Markdown parser: CommonMark with tables."""
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    reader.add_render_rule("code_inline", _code)
    reader.add_render_rule("table_open", lambda *_: f"{BOX}<table>\n")
    reader.add_render_rule("table_close", lambda *_: "</table></div>\n")
    reader.add_render_rule("fence", _block)
    reader.render("a *word*")  # puts its rules in order: two threads that do it at once find none of them
    return reader


def _code(self: Any, tokens: Any, at: int, options: Any, env: Any) -> str:
    """Inline code; the name of a lesson becomes a link."""
    text = tokens[at].content
    code = Markup("<code>{}</code>").format(text)
    number = NUMBERS.get(text)
    if number is not None:
        code = Markup('<a href="#{}"><small>{}</small>&nbsp;{}</a>').format(text, number, code)
    return str(code)  # what the parser adds to it is not to be escaped


def _block(self: Any, tokens: Any, at: int, options: Any, env: Any) -> str:
    return str(Markup('<pre tabindex="0"><code>{}</code></pre>\n').format(tokens[at].content))


def html(text: str, *, level: int = 3, inserts: Mapping[str, str] | None = None) -> Markup:
    """A text with its highest heading at `level`; `inserts`: placeholders in it and the HTML that replaces them."""
    tokens = _reader().parse(text)
    highest = min((int(token.tag[1]) for token in tokens if token.type == "heading_open"), default=level)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) - highest + level)}"
    made: str = _reader().renderer.render(tokens, _reader().options, {})
    for mark, insert in (inserts or {}).items():
        made = made.replace(f"<p>{mark}</p>", insert).replace(mark, insert)
    return Markup(made)


def line(text: str) -> Markup:
    """One line of Markdown, without a paragraph around it."""
    return Markup(_reader().renderInline(text))


# --- equations ---

# a word in upright letters is one name, not a product of letters
_WORD = re.compile(r"<mrow>((?:<mi mathvariant=\"normal\">\w</mi>){2,})</mrow>")
_LETTER = re.compile(r">(\w)<")


def mathml(latex: str, formula: str) -> Markup:
    """LaTeX → MathML, which every browser draws natively, on its own line.

    `formula`, the same in Unicode, is for screen readers.
    """
    from latex2mathml.converter import convert

    made: str = convert(latex, display="block")
    made = _WORD.sub(lambda found: "<mi>" + "".join(_LETTER.findall(found[1])) + "</mi>", made)
    return Markup(made.replace("<math ", f'<math aria-label="{escape(formula)}" ', 1))


# --- between the tags ---

_PARTS = re.compile(r"(<svg\b.*?</svg>|<math\b.*?</math>|<[^>]*>)", re.DOTALL)
_HANGUL = re.compile(r"[가-힣]+(?:[ ,.·!?]+[가-힣]+)*[.!?]?")
JOINER = "\u2060"  # no width, no break
_ENDING = re.compile(r"(?<=[)\]}%”’])(?=[가-힣])")
_TYPED = re.compile(r"(?<!\S)(?=\S{2,32}(?!\S))[^\s-]*-\S*")  # longer ones would not fit on a phone


def marked(page: str, lang: str) -> Markup:
    """Marks Korean words on a page in another language, for screen readers and fonts.

    Pictures and formulas stay as they are.
    """
    if lang == "ko":
        return Markup(page)
    parts = _PARTS.split(page)
    for at in range(0, len(parts), 2):  # every second part is text, the others are tags
        parts[at] = _HANGUL.sub(r'<span lang="ko">\g<0></span>', parts[at])
    return Markup("".join(parts))


def kept(page: str) -> Markup:
    """The same HTML without line breaks where a browser must not break.

    Two places: between a bracket or a per cent sign and its Korean ending, (차이 0.3)입니다; and at the hyphens of
    commands, glassformer claims pe-linear --fresh. Blocks of code, pictures and formulas stay as they are.
    """
    parts = _PARTS.split(page)
    code = block = 0
    for at, part in enumerate(parts):
        if at % 2:
            code += part.startswith("<code") - part.startswith("</code")
            block += part.startswith("<pre") - part.startswith("</pre")
        elif not code:
            parts[at] = _after_a_tag(parts, at) + _ENDING.sub(JOINER, part)
        elif not block:
            parts[at] = _TYPED.sub(r'<span class="whole">\g<0></span>', part)
    return Markup("".join(parts))


def _after_a_tag(parts: list[str], at: int) -> str:
    """A joiner where a Korean ending follows the end of a piece of code."""
    follows = at > 0 and parts[at - 1].startswith("</code") and re.match("[가-힣]", parts[at])
    return JOINER if follows else ""
