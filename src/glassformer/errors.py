"""Errors that a person can cause: a key of words/ and the values in it.

`str(error)` is English; the command line says the same sentence in the chosen language.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from glassformer.words import say


@dataclass(frozen=True)
class Phrase:
    """A value that is itself a key of words/, so that it is said in the language of its sentence."""

    key: str
    values: tuple[tuple[str, object], ...] = ()

    def say(self, lang: str) -> str:
        return say(self.key, lang, **dict(self.values))


class GlassformerError(Exception):
    """One line that names the thing, the value, the rule and the remedy."""

    def __init__(self, key: str, /, **values: object) -> None:
        self.key = key
        self.values = values
        super().__init__(key, values)

    def in_language(self, lang: str) -> str:
        values = {name: value.say(lang) if isinstance(value, Phrase) else value for name, value in self.values.items()}
        return say(f"errors.{self.key}", lang, **values)

    def __str__(self) -> str:
        return self.in_language("en")


class ConfigError(GlassformerError):
    """A configuration that describes no model: unknown key, wrong type, impossible size."""


class InputError(GlassformerError):
    """Something given to a model that it cannot take: ids, lengths, shapes, NaN."""


class FileError(GlassformerError):
    """A file that is missing, unreadable, or not what it should be."""


class UsageError(GlassformerError):
    """A command line that cannot be understood. Exit code 2; all others: 1."""


def suggest(word: str, known: Iterable[str]) -> Phrase:
    """The known name closest to what was typed, or all of them when nothing is close."""
    known = sorted(known)
    close = get_close_matches(word, known, n=1)
    if close:
        return Phrase("hints.did_you_mean", (("name", close[0]),))
    return Phrase("hints.known", (("names", ", ".join(known)),))
