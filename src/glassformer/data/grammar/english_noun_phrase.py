"""English noun phrases: article, owner, number, adjective, noun and relative clause."""

from __future__ import annotations

from glassformer.data.grammar import english
from glassformer.data.grammar.lexicon import Noun
from glassformer.data.grammar.pair import Word, words
from glassformer.data.grammar.tree import NounPhrase

SINGULAR = {"this": "this", "that": "that", "the": "the", "every": "every", "many": "many"}
PLURAL = {"this": "these", "that": "those", "the": "the", "many": "many"}


def noun_words(noun: Noun, path: str, plural: bool) -> list[Word]:
    """The noun in the number asked for; an irregular plural is in the lexicon."""
    *before, last = noun.en.split()
    if plural and noun.count == "count":
        last = noun.plural or english.plural(last)
    links = noun.links if any(noun.links) else ()
    marks = [f"{path}noun{link}" for link in links] or [f"{path}noun"] * (len(before) + 1)
    return [Word(word, (mark,)) for word, mark in zip([*before, last], marks, strict=True)]


def pronoun(noun: Noun, form: int) -> str:
    """form 0: I, 1: me, 2: my."""
    return noun.en.split()[form]


def owner(noun: Noun) -> str:
    return pronoun(noun, 2) if noun.kind == "pronoun" else f"{noun.en}'s"


def noun_phrase(phrase: NounPhrase, path: str, nominative: bool, article: str) -> list[Word]:
    """All but the relative clause; `article` is what a bare noun takes: a, the, no, or generic (the plural)."""
    noun = phrase.noun
    if noun.kind == "pronoun":
        return words(pronoun(noun, 0 if nominative else 1), f"{path}noun")
    if phrase.other:
        return [*words(noun.en, f"{path}noun"), Word("and", (f"{path}and",)), *words(phrase.other.en, f"{path}other")]
    bare = not (phrase.determiner or phrase.owner or phrase.number or phrase.relative or noun.kind == "name")
    generic = bare and noun.count == "count" and article == "generic"
    plural = phrase.is_plural or generic or phrase.determiner == "many"
    inner = words(phrase.adjective.en, f"{path}adj") if phrase.adjective else []
    if phrase.number and noun.measure:
        measure = noun.measure if phrase.number.en == ("one",) else english.plural(noun.measure)
        own = [Word(measure, (f"{path}measure",)), Word("of", (f"{path}measure",))]
        return [*words(phrase.number.en, f"{path}num"), *own, *inner, *noun_words(noun, path, plural=False)]
    inner += noun_words(noun, path, plural)
    return determiner(phrase, path, plural, article if bare and not generic else "", inner[0]) + inner


def determiner(phrase: NounPhrase, path: str, plural: bool, article: str, following: Word) -> list[Word]:
    """The first word of the phrase; an article, which Korean does not have, is aligned with the noun."""
    own = f"{path}det"
    if phrase.owner:
        return words(owner(phrase.owner), own)
    if phrase.number:
        return words(phrase.number.en, f"{path}num")
    if phrase.determiner == "one":
        return words(english.article(following.text), own)
    if phrase.determiner == "many" and phrase.noun.count == "mass":
        return words("much", own)
    if phrase.determiner:
        return words((PLURAL if plural else SINGULAR)[phrase.determiner], own)
    marks = (f"{path}noun1" if any(phrase.noun.links) else f"{path}noun",)
    if phrase.relative or phrase.noun.the:
        return [Word("the", marks)]
    if article == "the":
        return [Word("the", marks)]
    if article == "a" and phrase.noun.count == "count" and not plural:
        return [Word(english.article(following.text), marks)]
    return []
