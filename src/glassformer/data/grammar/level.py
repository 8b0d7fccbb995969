"""How much of the language is used: `small` for a minute of training on two cores, `full` for everything."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from glassformer.data.grammar.lexicon import (
    ANIMALS,
    PEOPLE,
    Address,
    Adjective,
    Lexicon,
    Noun,
    Phrasing,
    Verb,
    read_lexicon,
)
from glassformer.errors import choose

LEVELS = {"small": "small", "full": "full"}


@dataclass(frozen=True)
class LengthLimits:
    """The longest sentence trained on, in words of either language; a long one exceeds both."""

    korean: int
    english: int


Usage = Mapping[str, Mapping[str, list[str]]]
LIMITS = {"small": LengthLimits(7, 10), "full": LengthLimits(9, 13)}


class Level:
    """The words of one level, with queries: which nouns are of a class, which adjectives suit a noun."""

    def __init__(self, name: str, lexicon: Lexicon, plan: Mapping[str, Any], usage: Usage) -> None:
        self.name = name
        self.limits = LIMITS[name]
        self.lexicon = lexicon
        self.constructions: tuple[tuple[str, float], ...] = tuple(plan["constructions"].items())
        self.modalities: dict[str, float] = plan["modalities"]
        self.spoken: float = plan["spoken"]
        self.negative: float = plan["negative"]
        self.usage = usage
        self.verbs = tuple(lexicon.verbs.values())
        self.adjectives = tuple(lexicon.adjectives.values())
        self._of: dict[tuple[str, ...], tuple[Noun, ...]] = {}
        self._groups: dict[tuple[str, ...], dict[str, tuple[Noun, ...]]] = {}
        self._verbs: dict[tuple[str, ...], tuple[Verb, ...]] = {}
        self._timed: dict[tuple[str, ...], tuple[Phrasing, ...]] = {}
        self._manners: dict[tuple[str, ...], tuple[Phrasing, ...]] = {}
        suiting = {noun.lemma: self._suiting(noun) for noun in lexicon.nouns.values()}
        self._describing = {lemma: tuple(w for w in words if not w.predicate) for lemma, words in suiting.items()}
        self._asserting = {lemma: tuple(w for w in words if not w.attributive) for lemma, words in suiting.items()}
        self._adverbs = {kind: tuple(entries.values()) for kind, entries in lexicon.adverbs.items()}
        self._times = {when: tuple(time for time in lexicon.times if time.when == when) for when in TIMES}

    def nouns(self, classes: tuple[str, ...]) -> tuple[Noun, ...]:
        """All nouns of these classes or with these lemmas, in the order of the lexicon."""
        if classes not in self._of:
            wanted = set(classes) | (set(PEOPLE) if "person" in classes else set())
            found = [noun for noun in self.lexicon.nouns.values() if noun.kind in wanted or noun.lemma in wanted]
            self._of[classes] = tuple(found)
        return self._of[classes]

    def groups(self, classes: tuple[str, ...]) -> dict[str, tuple[Noun, ...]]:
        """The same nouns by what they are: name, kin, role, animal (pronouns apart)."""
        if classes not in self._groups:
            found = self.nouns(classes)
            kinds = {"name": ("name",), "kin": ("kin",), "role": ("role",), "animal": ANIMALS}
            self._groups[classes] = {
                name: tuple(noun for noun in found if noun.kind in group) for name, group in kinds.items()
            }
        return self._groups[classes]

    def kinds(self, *kinds: str) -> tuple[Verb, ...]:
        if kinds not in self._verbs:
            self._verbs[kinds] = tuple(verb for verb in self.verbs if verb.kind in kinds)
        return self._verbs[kinds]

    def _suiting(self, noun: Noun) -> tuple[Adjective, ...]:
        own = {noun.kind, noun.lemma, "person" if noun.human else ""}
        return tuple(word for word in self.adjectives if own & set(word.of))

    def describing(self, noun: Noun) -> tuple[Adjective, ...]:
        """The adjectives that may come before a noun."""
        return self._describing[noun.lemma]

    def asserting(self, noun: Noun) -> tuple[Adjective, ...]:
        """The adjectives that may be predicates of a noun."""
        return self._asserting[noun.lemma]

    def times(self, *when: str) -> tuple[Phrasing, ...]:
        if when not in self._timed:
            self._timed[when] = tuple(time for name in when for time in self._times[name])
        return self._timed[when]

    def adverb(self, kind: str) -> tuple[Phrasing, ...]:
        return self._adverbs[kind]

    def manners(self, names: tuple[str, ...]) -> tuple[Phrasing, ...]:
        if names not in self._manners:
            known = self.lexicon.adverbs["manner"]
            self._manners[names] = tuple(known[name] for name in names if name in known)
        return self._manners[names]

    @property
    def addresses(self) -> tuple[Address, ...]:
        return self.lexicon.addresses


TIMES = ("past", "past_long", "future", "future_long", "habit", "now", "any", "season")


def _small(lexicon: Lexicon, chosen: dict[str, list[str]]) -> Lexicon:
    """Only the chosen words; a verb or adjective without any of its partners is a mistake in the lexicon."""
    nouns = {lemma: lexicon.nouns[lemma] for lemma in chosen["nouns"]}
    verbs = {lemma: lexicon.verbs[lemma] for lemma in chosen["verbs"]}
    adjectives = {lemma: lexicon.adjectives[lemma] for lemma in chosen["adjectives"]}
    times = tuple(time for time in lexicon.times if " ".join(time.ko) in chosen["times"])
    adverbs = {
        kind: {ko: phrasing for ko, phrasing in entries.items() if ko in chosen.get(kind, ())}
        for kind, entries in lexicon.adverbs.items()
    }
    return Lexicon(nouns, verbs, adjectives, times, adverbs, lexicon.addresses)


@cache
def level_of(name: str) -> Level:
    choose("level", name, LEVELS)
    plan = _toml("levels")
    lexicon = _small(read_lexicon(), plan["words"]) if name == "small" else read_lexicon()
    return Level(name, lexicon, plan[name], _toml("usage"))


@cache
def feeling(name: str) -> Level:
    """The same level with only the verbs and adjectives that express a feeling."""
    plain, plan = level_of(name), _toml("levels")
    words = plain.lexicon
    verbs = {lemma: verb for lemma, verb in words.verbs.items() if verb.mood}
    adjectives = {lemma: adjective for lemma, adjective in words.adjectives.items() if adjective.mood}
    lexicon = Lexicon(words.nouns, verbs, adjectives, words.times, words.adverbs, words.addresses)
    return Level(name, lexicon, {**plan[name], **plan["feeling"]}, plain.usage)


def _toml(name: str) -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / "lexicon" / f"{name}.toml").read_text(encoding="utf-8"))
