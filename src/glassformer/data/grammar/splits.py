"""Train, validation and test: decided by the sentence alone, so that no seed can mix them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from hashlib import blake2b

from glassformer.data.grammar.level import LengthLimits
from glassformer.data.grammar.tree import Clause, NounPhrase, Sentence

KINDS = ("seen-like", "subject-verb", "adjective-noun", "verb-place", "long")
SPLITS = {"train": KINDS[:1], "validation": KINDS[:1], "test": KINDS}
HELD_OUT_PERCENT = 8
VALIDATION_PERCENT = 4
TEST_PERCENT = 4
Combination = tuple[str, str, str]


@cache
def percentile(text: str) -> int:
    """A hash from 0 to 99 that is the same in every process, unlike Python's own."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest()) % 100


def clauses(clause: Clause) -> Iterator[Clause]:
    """The clause and every one inside it."""
    yield clause
    for phrase in phrases_of(clause):
        if phrase.relative:
            yield from clauses(phrase.relative)
    if clause.purpose:
        yield from clauses(clause.purpose)


def phrases_of(clause: Clause) -> list[NounPhrase]:
    roles = (clause.subject, clause.object, clause.recipient, clause.company, clause.standard, clause.complement)
    return [phrase for phrase in roles if phrase is not None]


def all_clauses(sentence: Sentence) -> Iterator[Clause]:
    yield from clauses(sentence.clause)
    if sentence.second:
        yield from clauses(sentence.second)


def combinations(sentence: Sentence) -> Iterator[Combination]:
    """(kind, word, word) of every lexical combination in the sentence.

    Pronouns, "to be" and "to have" combine with everything and are never held out.
    """
    for clause in all_clauses(sentence):
        subject, predicate = clause.subject, clause.predicate
        word = predicate.verb or predicate.adjective
        if word and subject and clause.asked != "subject":
            for noun in (subject.noun, subject.other):
                if noun and noun.kind != "pronoun":
                    yield "adjective-noun" if predicate.adjective else "subject-verb", noun.lemma, word.lemma
        if predicate.verb:
            for place in (clause.goal, clause.stay, clause.source, clause.place):
                if place:
                    yield "verb-place", place.lemma, predicate.verb.lemma
        for phrase in phrases_of(clause):
            if phrase.adjective:
                yield "adjective-noun", phrase.noun.lemma, phrase.adjective.lemma


def is_held_out(combination: Combination) -> bool:
    return percentile("|".join(combination)) < HELD_OUT_PERCENT


def held_out_kinds(sentence: Sentence) -> set[str]:
    return {combination[0] for combination in combinations(sentence) if is_held_out(combination)}


def sentence_split(held_out: set[str], korean: str, english: str, limits: LengthLimits) -> tuple[str, str] | None:
    """(split, kind) of a sentence; None for none: two kinds of held-out combinations, or long on one side only."""
    longer = (korean.count(" ") >= limits.korean, english.count(" ") >= limits.english)
    if any(longer):
        return ("test", "long") if all(longer) and not held_out else None
    if held_out:
        return ("test", next(iter(held_out))) if len(held_out) == 1 else None
    rank = percentile(korean)
    if rank < VALIDATION_PERCENT:
        return "validation", "seen-like"
    return ("test" if rank < VALIDATION_PERCENT + TEST_PERCENT else "train"), "seen-like"
