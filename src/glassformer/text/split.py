"""Where a text may be cut before it is cut into pieces: before a blank, and where letters, digits and signs meet."""

from __future__ import annotations

from tokenizers import Regex
from tokenizers.pre_tokenizers import PreTokenizer, Split

LONGEST_WORD = 24  # the time of WordPiece, and of Unigram's training, grows with the square of a word's length

# GPT-2's pattern with small changes: marks belong to their letters; 's is cut off only at the end of a word; no run is
# endless; "#" stands alone, so that "##" in a text is never WordPiece's own mark. Like GPT-2's it cuts every
# "<eos>" and "<0x0A>" of a text: neither can be taken for the special piece of that name.
PATTERN = (
    r"'(?:[sdmt]|ll|ve|re)(?![\p{L}\p{M}])"
    rf"| ?[\p{{L}}\p{{M}}]{{1,{LONGEST_WORD}}}"
    rf"| ?\p{{N}}{{1,{LONGEST_WORD}}}"
    r"|#"
    rf"| ?[^\s\p{{L}}\p{{M}}\p{{N}}#]{{1,{LONGEST_WORD}}}"
    rf"|\s{{1,{LONGEST_WORD}}}(?!\S)"
    rf"|\s{{1,{LONGEST_WORD}}}"
)


def split_words() -> PreTokenizer:
    return Split(Regex(PATTERN), "isolated")
