"""The words that a model has read in training, and how much at once: its answer to anything else is a guess.

Sub-words and bytes spell every text, so nothing is unknown to a tokenizer, but it may be to the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from glassformer.errors import FileError, warn
from glassformer.text.files import read_table, to_json, write_files
from glassformer.text.normalisation import normalise
from glassformer.text.tokenizer import Tokenizer

FILE = "seen.json"
MOST = 50_000  # words; with more, new words are so common that there would always be a warning
WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def words_of(text: str) -> list[str]:
    """Runs of letters and digits, in lower case; signs are not words."""
    return WORD.findall(normalise(text).casefold())


@dataclass(frozen=True)
class SeenText:
    """The words of all training texts, or None if there were too many to keep; and their characters.

    `longest`: the characters of the longest text; None in a run of an older version, which did not count them.
    """

    words: frozenset[str] | None
    characters: frozenset[str]
    longest: int | None = None

    @classmethod
    def of(cls, texts: Iterable[str]) -> Self:
        words: set[str] | None = set()
        characters: set[str] = set()
        longest = 0
        for text in texts:
            composed = normalise(text)
            characters.update(composed)
            longest = max(longest, len(composed))
            if words is not None:
                words.update(words_of(text))
                words = None if len(words) > MOST else words
        return cls(None if words is None else frozenset(words), frozenset(characters), longest or None)

    def save(self, folder: Path) -> None:
        words = None if self.words is None else sorted(self.words)
        table = {"words": words, "characters": "".join(sorted(self.characters)), "longest": self.longest}
        write_files(folder, {FILE: to_json(table)})

    @classmethod
    def open(cls, folder: Path) -> Self | None:
        """None for a run of an older version and for an imported model, whose training texts are unknown.

        A damaged file is reported and skipped: it only serves a warning.
        """
        if not (folder / FILE).is_file():
            return None
        try:
            table = read_table(folder / FILE)
            words, characters, longest = table.get("words"), table.get("characters"), table.get("longest")
        except FileError:
            words, characters, longest = None, None, None
        if not (words is None or isinstance(words, list)) or not isinstance(characters, str):
            warn("seen_damaged", path=folder / FILE)
            return None
        counted = longest if isinstance(longest, int) else None
        return cls(None if words is None else frozenset(map(str, words)), frozenset(characters), counted)

    def missing(self, text: str) -> list[str]:
        """The words of a text that were in none of the training texts, or else its characters; each once."""
        if self.words is not None:
            return [word for word in dict.fromkeys(words_of(text)) if word not in self.words]
        return [one for one in dict.fromkeys(normalise(text)) if one not in self.characters and not one.isspace()]

    def too_long(self, text: str) -> bool:
        """Whether a text is longer than every training text."""
        return self.longest is not None and len(normalise(text)) > self.longest


def unknown(tokenizer: Tokenizer, text: str) -> list[str]:
    """What a tokenizer has no piece for, each once: all that is known for an imported model."""
    unk, composed = tokenizer.specials.unk, normalise(text)
    if unk is None or unk not in (ids := tokenizer.encode(text)):
        return []
    spans = tokenizer.spans(text)
    found = (composed[a:b].strip() for token, (a, b) in zip(ids, spans, strict=True) if token == unk)
    return list(dict.fromkeys(word for word in found if word))
