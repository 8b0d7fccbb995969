"""One spelling for every text: Unicode's composed form (NFC), so that a Hangul syllable is one character.

Before the first box of Figure 1; nothing else is changed, neither case nor blanks nor width.
"""

from __future__ import annotations

import re
import unicodedata

from glassformer.errors import InputError, shown

SURROGATE = re.compile("[\ud800-\udfff]")


def normalise(text: str) -> str:
    """NFC(text).

    A Korean word can arrive as syllables or, from macOS, as jamo (NFD): without this they would be different tokens.
    Half of a surrogate pair is no character: it cannot be written as UTF-8, so it is refused.
    """
    if not isinstance(text, str):
        raise InputError("not_a_text", value=shown(text))
    if text.isascii():
        return text
    found = SURROGATE.search(text)
    if found:
        raise InputError("lone_surrogate", code=f"{ord(found[0]):04X}", position=found.start())
    return unicodedata.normalize("NFC", text)
