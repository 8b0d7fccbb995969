"""Training texts on their way to a library, and whether they can give the vocabulary that was asked for.

A vocabulary has exactly the size asked for: a smaller one, in silence, would not fit the model planned with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from glassformer.config.values import size
from glassformer.errors import ConfigError, InputError, shown
from glassformer.text.normalisation import normalise

# The trainers' time grows with the square of a word's length, and SentencePiece's skips long sentences in silence: so a
# long text goes to them in parts, cut at white space where there is any.
PART = re.compile(r".{1,400}(?!\S)|.{1,400}", re.DOTALL)
LARGEST_VOCABULARY = 2**22  # the trainers set aside memory for all of it at once


class Corpus:
    """Texts, composed, checked and cut into parts as they pass; knows afterwards whether there were any."""

    def __init__(self, texts: Iterable[str]) -> None:
        if isinstance(texts, str) or not isinstance(texts, Iterable):
            raise InputError("texts_not_a_list", value=shown(texts))
        self._texts = texts
        self._characters = 0

    def __iter__(self) -> Iterator[str]:
        for text in self._texts:
            composed = normalise(text)
            self._characters += len(composed)
            yield from PART.findall(composed)

    def check(self) -> None:
        """After the texts have passed: nothing at all is nothing to learn from."""
        if not self._characters:
            raise InputError("no_training_text")


def wanted(kind: str, vocab_size: int | None, least: int) -> int:
    """The size asked for, at least what the special tokens and the alphabet take."""
    if vocab_size is None:
        raise ConfigError("vocab_size_unset", kind=kind)
    asked = size("vocab_size", vocab_size, high=LARGEST_VOCABULARY)
    if asked < least:
        raise ConfigError("vocabulary_too_small", kind=kind, vocab_size=asked, least=least)
    return asked


def reached(kind: str, vocab_size: int, most: int) -> None:
    """Refuse a vocabulary that came out smaller than it was asked for."""
    if most < vocab_size:
        raise ConfigError("vocabulary_too_large", kind=kind, vocab_size=vocab_size, most=most)
