"""Errors that a person can cause, and warnings: a key of words/ and the values in it.

`str(error)` is English; the command line says the same sentence in the chosen language.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from glassformer.words import say, sentences

T = TypeVar("T")
LONGEST = 400  # characters of one value in a message: a hostile file may hold a key of a million


@dataclass(frozen=True)
class Phrase:
    """A value that is itself a key of words/, so that it appears in the language of its sentence; phrases may nest."""

    key: str
    values: tuple[tuple[str, object], ...] = ()

    def say(self, lang: str) -> str:
        return _sentence(self.key, dict(self.values), lang) if self.values else say(self.key, lang)


class _Sentence(Exception):  # noqa: N818  (an error, or a warning)
    """One line that names the thing, the value, the rule and the remedy."""

    table = "errors"

    def __init__(self, key: str, /, **values: object) -> None:
        self.key = key
        self.values = values
        super().__init__(key, values)

    def in_language(self, lang: str) -> str:
        return _sentence(f"{self.table}.{self.key}", self.values, lang)

    def __str__(self) -> str:
        return self.in_language("en")

    def __reduce__(self) -> tuple[Any, ...]:
        """Needed because the values are keywords: else an error from another process could not be unpickled."""
        return partial(type(self), self.key, **self.values), ()


class GlassformerError(_Sentence):
    """The base of all errors that a person can cause."""


class GlassformerWarning(_Sentence, UserWarning):
    """Something a person should know, although the work goes on; one line on stderr at the command line."""

    table = "warnings"


def warn(key: str, /, **values: object) -> None:
    """Issue a warning; the command line shows it as one line."""
    warnings.warn(GlassformerWarning(key, **values), stacklevel=3)


class ConfigError(GlassformerError):
    """A configuration that describes no model: unknown key, wrong type, impossible size."""


class InputError(GlassformerError):
    """Something given to a model that it cannot take: ids, lengths, shapes, NaN."""


class FileError(GlassformerError):
    """A file that is missing, unreadable, or not what it should be."""


class RankError(GlassformerError):
    """Processes that train together and cannot: one is missing, has failed, or has nothing to do."""


class UsageError(GlassformerError):
    """A command line that cannot be understood. Exit code 2; all others: 1."""


def reason(error: GlassformerError) -> Phrase:
    """The text of an error, as a value of another sentence."""
    return Phrase(f"errors.{error.key}", tuple(error.values.items()))


def _sentence(key: str, values: Mapping[str, object], lang: str) -> str:
    """The sentence with its values. It does not use say(), because a value may be called "key"."""
    return sentences(lang)[key].format(**{name: _said(value, lang) for name, value in values.items()})


def _said(value: object, lang: str) -> object:
    """A value as its sentence shows it: phrases in the language, long texts cut."""
    match value:
        case Phrase():
            return value.say(lang)
        case int() if abs(value) >= 10**30:  # Python refuses to write numbers of over 4,300 digits
            return say("expected.huge", lang)
        case str() | Path():
            return _cut(str(value), LONGEST)
    return value


def shown(value: object) -> str | Phrase:
    """A value of any type as a person recognises it, short."""
    try:
        return _cut(repr(value), 60)
    except ValueError:  # it contains a number of too many digits
        return Phrase("expected.huge")
    except RecursionError:
        return f"{type(value).__name__} …"


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def choose(key: str, kind: str, known: Mapping[str, T]) -> T:
    """The entry of a table of kinds, or an error that lists them."""
    if kind not in known:
        raise ConfigError("not_one_of", key=key, value=kind, known=", ".join(known))
    return known[kind]


def suggest(word: object, known: Iterable[str]) -> Phrase:
    """The known name closest to what was typed, or all of them when nothing is close."""
    known = sorted(known)
    close = get_close_matches(_cut(str(word), LONGEST), known, n=1)
    if close:
        return Phrase("hints.did_you_mean", (("name", close[0]),))
    return Phrase("hints.known", (("names", ", ".join(known)),))
