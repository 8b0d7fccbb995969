"""Which language a piece of text is in: a reader aloud and a font need to know it, word by word."""

from __future__ import annotations

import re

PARTS = re.compile(r"(<svg\b.*?</svg>|<math\b.*?</math>|<[^>]*>)", re.DOTALL)
_HANGUL = re.compile(r"[가-힣]+(?:[ ,.·!?]+[가-힣]+)*[.!?]?")


def marked(html: str, lang: str) -> str:
    """Korean words on a page in another language are marked as such; pictures and formulas stay as they are."""
    if lang == "ko":
        return html
    parts = PARTS.split(html)
    for at in range(0, len(parts), 2):  # texts; what stands between them are tags
        parts[at] = _HANGUL.sub(r'<span lang="ko">\g<0></span>', parts[at])
    return "".join(parts)
