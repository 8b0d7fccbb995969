"""Normalisation (NFC), and the places where a text may be cut into pieces.

Nothing else is changed: not case, blanks or width.
"""

from __future__ import annotations

import re
import unicodedata

from tokenizers import Regex
from tokenizers.pre_tokenizers import PreTokenizer, Split

from glassformer.errors import InputError, shown

SURROGATE = re.compile("[\ud800-\udfff]")
CONTINUED = "^##"  # WordPiece's mark for a piece inside of a word
LONGEST_WORD = 24  # the time of WordPiece, and of Unigram's training, grows with the square of a word's length
# GPT-2's pattern with small changes: marks belong to their letters; 's is cut off only at the end of a word; runs are
# limited; "#" is always alone, so that "##" in a text is never WordPiece's own mark. Like GPT-2's, it cuts "<eos>" and
# "<0x0A>" in a text, so that they are never mistaken for the special pieces of that name.
PATTERN = (
    r"'(?:[sdmt]|ll|ve|re)(?![\p{L}\p{M}])"
    rf"| ?[\p{{L}}\p{{M}}]{{1,{LONGEST_WORD}}}"
    rf"| ?\p{{N}}{{1,{LONGEST_WORD}}}"
    r"|#"
    rf"| ?[^\s\p{{L}}\p{{M}}\p{{N}}#]{{1,{LONGEST_WORD}}}"
    rf"|\s{{1,{LONGEST_WORD}}}(?!\S)"
    rf"|\s{{1,{LONGEST_WORD}}}"
)


def normalise(text: str) -> str:
    """NFC(text): a Hangul syllable is one character.

    A Korean word can arrive as syllables or, from macOS, as jamo (NFD): without this they would be different tokens.
    Half of a surrogate pair is not a character and cannot be written as UTF-8, so it is refused.
    """
    if not isinstance(text, str):
        raise InputError("not_a_text", value=shown(text))
    if text.isascii():
        return text
    found = SURROGATE.search(text)
    if found:
        raise InputError("lone_surrogate", code=f"{ord(found[0]):04X}", position=found.start())
    return unicodedata.normalize("NFC", text)


def split_words() -> PreTokenizer:
    """Cut before a blank, and where letters, digits and signs meet."""
    return Split(Regex(PATTERN), "isolated")
