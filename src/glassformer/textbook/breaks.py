"""Where a line of the page must not end, though a browser would end it there.

Two places: between a bracket, a per cent sign and the Korean ending that belongs to it, (차이 0.3)입니다; and at the
hyphens of what one types, glassformer claims pe-linear --fresh.
"""

from __future__ import annotations

import re

from glassformer.textbook.languages import PARTS

JOINER = "\u2060"  # no width, no break
ENDING = re.compile(r"(?<=[)\]}%”’])(?=[가-힣])")
TYPED = re.compile(r"(?<!\S)(?=\S{2,32}(?!\S))[^\s-]*-\S*")  # a longer one would not fit on a phone


def kept(html: str) -> str:
    """The same HTML with these places held together; blocks of code, pictures and formulas stay as they are."""
    parts = PARTS.split(html)
    code = block = 0
    for at, part in enumerate(parts):
        if at % 2:
            code += part.startswith("<code") - part.startswith("</code")
            block += part.startswith("<pre") - part.startswith("</pre")
        elif not code:
            parts[at] = _after_a_tag(parts, at) + ENDING.sub(JOINER, part)
        elif not block:
            parts[at] = TYPED.sub(r'<span class="whole">\g<0></span>', part)
    return "".join(parts)


def _after_a_tag(parts: list[str], at: int) -> str:
    """A joiner where a Korean ending follows the end of a piece of code."""
    follows = at > 0 and parts[at - 1].startswith("</code") and re.match("[가-힣]", parts[at])
    return JOINER if follows else ""
