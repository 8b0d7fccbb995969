"""Equations for a page: LaTeX → MathML, which every browser draws by itself."""

from __future__ import annotations

import re
from html import escape

# a word in upright letters is one name, not a product of letters
_WORD = re.compile(r"<mrow>((?:<mi mathvariant=\"normal\">\w</mi>){2,})</mrow>")


_LETTER = re.compile(r">(\w)<")


def mathml(latex: str, formula: str) -> str:
    """An equation on a line of its own; `formula`, the same in Unicode, is what a reader aloud gets."""
    from latex2mathml.converter import convert

    made: str = convert(latex, display="block")
    made = _WORD.sub(lambda found: "<mi>" + "".join(_LETTER.findall(found[1])) + "</mi>", made)
    return made.replace("<math ", f'<math aria-label="{escape(formula)}" ', 1)
