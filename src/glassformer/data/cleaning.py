"""What parallel text of the web goes through before it is stored: marks that are no text, and pairs that are none.

The rules are those of Moses' remove-non-printing-char and clean-corpus-n, which most papers after *Attention Is All You
Need* use for WMT14. Punctuation is not touched here: `data.prepare = "moses"` normalises it, in all parts alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import unescape

from glassformer.data.lines import read_lines
from glassformer.errors import FileError

# By number and not by Unicode category, which differs between versions of Python: the stored text must not.
UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]")  # inside words: dropped
CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ue000-\uf8ff\ufffe\uffff]")  # between words: a blank
TOKEN = re.compile(r"\w+|[^\w\s]")  # a word or one sign, about what the tokenizer of Moses counts
SEGMENT = re.compile(r"<seg\b[^>]*>(.*)</seg>", re.IGNORECASE)
QUOTES = {"&quot;": '"', "&apos;": "'"}
LEFT_OUT = ("<url>", "<talkid>", "<keywords>", "<speaker>", "<reviewer", "<translator", "<doc", "</doc", "</reviewer")
AROUND = re.compile(r"</?(?:title|description|transcript)\b[^>]*>")


@dataclass(frozen=True)
class Fit:
    """Which pairs are translations at all: so many tokens on each side, and not far more on one than on the other."""

    longest: int = 250
    ratio: float = 1.5

    def fault(self, source: str, target: str) -> str:
        """Why a pair is left out: "empty", "long" or "ratio"; "" for a good one."""
        if not source or not target:
            return "empty"
        first, second = len(TOKEN.findall(source)), len(TOKEN.findall(target))
        if max(first, second) > self.longest:
            return "long"
        if max(first, second) > self.ratio * min(first, second):
            return "ratio"
        return ""


def cleaned(text: str) -> str:
    """Without what cannot be seen, and with single blanks; a soft hyphen or a zero-width mark does not cut its word."""
    if not text.isascii():
        text = UNSEEN.sub("", text)
    return " ".join(CONTROL.sub(" ", text).split())


def segments(path: str | Path) -> Iterator[str]:
    """The sentences of a test set in the SGML of WMT or the XML of IWSLT, with & for &amp;."""
    count = 0
    for line in read_lines(path):
        if found := SEGMENT.search(line):
            count += 1
            yield unescape(found[1], QUOTES).strip()
    if not count:
        raise FileError("data_no_segments", path=path)


def talks(path: str | Path) -> Iterator[str]:
    """The sentences of train.tags of IWSLT, titles and descriptions too; lines about the talk are left out."""
    for line in read_lines(path):
        if not line.lstrip().startswith(LEFT_OUT):
            yield AROUND.sub("", line)


SENTENCES: dict[str, Callable[[str | Path], Iterator[str]]] = {
    "lines": read_lines,
    "segments": segments,
    "talks": talks,
}
