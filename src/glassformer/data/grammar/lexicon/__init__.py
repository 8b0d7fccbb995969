"""The words of the corpus: TOML files with the class of each word, what it combines with, and its English."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from glassformer.data.grammar import english
from glassformer.data.grammar.english import EnglishVerb
from glassformer.data.grammar.korean import Stem

PEOPLE = ("pronoun", "name", "kin", "role")
ANIMALS = ("pet", "beast", "bird")


@dataclass(frozen=True)
class Noun:
    """A noun, name or pronoun with its class (which verbs and adjectives select) and its English."""

    lemma: str
    kind: str
    en: str
    plural: str = ""
    count: str = "count"
    counter: str = "개"
    measure: str = ""
    the: bool = False
    reading: str = ""
    honour: bool = False
    ours: bool = False
    gender: str = ""
    topic: str = ""
    person: int = 3
    humble: str = ""
    subject: str = ""
    owner: str = ""
    to: str = ""
    at: str = ""
    links: tuple[int, ...] = ()

    @property
    def animal(self) -> bool:
        return self.kind in ANIMALS

    @property
    def human(self) -> bool:
        return self.kind in PEOPLE

    @property
    def place(self) -> bool:
        return bool(self.at)


@dataclass(frozen=True)
class Verb:
    """A verb, its forms and everything it combines with; empty tuples for roles that it does not take."""

    lemma: str
    kind: str
    stem: Stem
    before: tuple[str, ...]
    en: EnglishVerb
    honour: str = ""
    humble: str = ""
    subject: tuple[str, ...] = ("person",)
    object: tuple[str, ...] = ()
    recipient: tuple[str, ...] = ()
    goal: tuple[str, ...] = ()
    stay: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    place: tuple[str, ...] = ()
    vehicle: tuple[str, ...] = ()
    tool: tuple[str, ...] = ()
    manner: tuple[str, ...] = ()
    company: bool = False
    to: str = "to"
    generic: bool = False
    definite: bool = False
    stative: bool = False
    single: bool = False
    skill: bool = False
    seasonal: bool = False
    steady: bool = False
    involuntary: bool = False
    uncounted: bool = False
    trip: bool = False
    each: bool = False
    particle: str = "에"
    event: bool = False
    alone: bool = False
    bare: bool = False
    ask: bool = False
    mood: str = ""
    topic: str = ""


@dataclass(frozen=True)
class Adjective:
    """An adjective, its forms and the classes of nouns that it can describe."""

    lemma: str
    kind: str
    stem: Stem
    before: tuple[str, ...]
    en: str
    of: tuple[str, ...] = ()
    whole: str = ""
    attributive: bool = False
    predicate: bool = False
    state: bool = False
    mood: str = ""


@dataclass(frozen=True)
class Phrasing:
    """Fixed words on both sides (times, adverbs, numbers); `links` says which comes from which."""

    ko: tuple[str, ...]
    en: tuple[str, ...]
    links: tuple[int, ...]
    when: str = ""


@dataclass(frozen=True)
class Address:
    """The listener of a sentence, and the speech level that this requires."""

    ko: str
    en: str
    level: str
    family: bool = False


@dataclass(frozen=True)
class Lexicon:
    """All words by lemma; nouns also by class."""

    nouns: Mapping[str, Noun]
    verbs: Mapping[str, Verb]
    adjectives: Mapping[str, Adjective]
    times: tuple[Phrasing, ...]
    adverbs: Mapping[str, Mapping[str, Phrasing]]
    addresses: tuple[Address, ...]


def phrasing(ko: str, en: str, when: str = "") -> Phrasing:
    """`at^2 seven^1` → the words, and for each the number of the Korean word it comes from (0: all of them)."""
    marked = [word.partition("^") for word in en.split()]
    links = tuple(int(number) if number else 0 for _, _, number in marked)
    return Phrasing(tuple(ko.split()), tuple(word for word, _, _ in marked), links, when)


def _read(name: str) -> dict[str, dict[str, Any]]:
    return tomllib.loads((Path(__file__).parent / f"{name}.toml").read_text(encoding="utf-8"))


def _fields(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}


def _stem(lemma: str, irregular: str) -> tuple[tuple[str, ...], Stem]:
    """`배가 고프다` → the words before, and the stem; a trailing digit tells homonyms apart."""
    *before, last = lemma.rstrip("2").split()
    return tuple(before), Stem(last.removesuffix("다"), irregular)


def _nouns() -> dict[str, Noun]:
    nouns = {}
    for name in ("people", "things", "places"):
        for kind, entries in _read(name).items():
            if kind == "address":
                continue
            for lemma, entry in entries.items():
                fields = _fields(entry)
                if name == "places":
                    fields.setdefault("the", True)
                    fields["count"] = "mass"
                fields.setdefault("counter", _counter(kind))
                if kind == "pronoun":
                    fields["plural"] = "plural" if fields.get("plural") else ""
                said = phrasing(lemma, fields["en"])
                fields.update(en=" ".join(said.en), links=said.links)
                nouns[lemma] = Noun(lemma, kind, **fields)
    return nouns


def _counter(kind: str) -> str:
    return "명" if kind in PEOPLE else "마리" if kind in ANIMALS else "개"


def _verbs() -> dict[str, Verb]:
    verbs = {}
    for kind, entries in _read("verbs").items():
        for lemma, entry in entries.items():
            fields = _fields(entry)
            before, stem = _stem(lemma, fields.pop("irregular", ""))
            en = english.verb(fields.pop("en"))
            fields["vehicle"] = fields.pop("by", ())
            fields["tool"] = fields.pop("with", ())
            verbs[lemma] = Verb(lemma, kind, stem, before, en, **fields)
    return verbs


def _adjectives() -> dict[str, Adjective]:
    adjectives = {}
    for kind, entries in _read("adjectives").items():
        for lemma, entry in entries.items():
            fields = _fields(entry)
            before, stem = _stem(lemma, fields.pop("irregular", ""))
            adjectives[lemma] = Adjective(lemma, kind, stem, before, **fields)
    return adjectives


@cache
def read_lexicon() -> Lexicon:
    """The whole lexicon, read once."""
    times = [phrasing(ko, en, when) for when, entries in _read("times").items() for ko, en in entries.items()]
    adverbs = {kind: {ko: phrasing(ko, en) for ko, en in entries.items()} for kind, entries in _read("adverbs").items()}
    addresses = tuple(Address(ko, **entry) for ko, entry in _read("people")["address"].items())
    return Lexicon(_nouns(), _verbs(), _adjectives(), tuple(times), adverbs, addresses)
