from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from glassformer.data.grammar.clauses import is_twofold, when
from glassformer.data.grammar.level import level_of
from glassformer.data.grammar.lexicon import Noun
from glassformer.data.grammar.sample import drawn
from glassformer.data.grammar.splits import all_clauses
from glassformer.data.grammar.tree import Clause, Sentence

LEVELS = ("small", "full")


@cache
def said(name: str) -> tuple[Sentence, ...]:
    return tuple(drawn(9, index, level_of(name)) for index in range(2500))


def clauses(name: str) -> Iterator[Clause]:
    for tree in said(name):
        yield from all_clauses(tree)


def fits(noun: Noun, classes: tuple[str, ...]) -> bool:
    someone = noun.human and ("person" in classes or "someone" in classes)
    return someone or noun.kind in classes or noun.lemma in classes


@pytest.mark.slow
@pytest.mark.parametrize("name", LEVELS)
def test_the_time_agrees_with_the_tense(name: str) -> None:
    seen = set()
    for clause in clauses(name):
        if clause.time is None:
            continue
        seen.add(clause.time.when)
        match clause.time.when:
            case "past" | "past_long":
                assert clause.tense == "past", clause
            case "future" | "future_long":
                assert clause.tense == "future" or clause.modality in ("want", "can", "must", "may", "must_not"), clause
            case "habit":
                assert clause.tense == "present" and not clause.modality, clause
            case "now":
                assert clause.tense == "present" and (clause.modality == "progressive" or not clause.predicate.verb)
    assert {"past", "future", "habit", "now", "any"} <= seen


@pytest.mark.parametrize("name", LEVELS)
def test_nobody_does_what_makes_no_sense(name: str) -> None:
    """Subjects, objects, places, vehicles and tools are of the classes that the verb asks for."""
    for clause in clauses(name):
        verb = clause.predicate.verb
        if verb is None:
            continue
        if clause.subject and verb.kind != "weather":
            assert fits(clause.subject.noun, verb.subject), clause
        for role in ("object", "recipient"):
            phrase = getattr(clause, role)
            assert phrase is None or fits(phrase.noun, getattr(verb, role)), clause
        for role in ("goal", "stay", "source", "place", "vehicle", "tool"):
            noun = getattr(clause, role)
            assert noun is None or fits(noun, getattr(verb, role)), clause


@pytest.mark.parametrize("name", LEVELS)
def test_adjectives_suit_what_they_describe(name: str) -> None:
    of = level_of(name)
    for clause in clauses(name):
        adjective = clause.predicate.adjective
        if adjective and clause.subject and clause.subject.noun.kind != "pronoun":
            assert fits(clause.subject.noun, adjective.of), clause
        for phrase in (clause.subject, clause.object, clause.recipient):
            if phrase and phrase.adjective:
                assert phrase.adjective in of.describing(phrase.noun), phrase


@pytest.mark.parametrize("name", LEVELS)
def test_english_shows_the_tense_of_every_single_clause(name: str) -> None:
    for tree in said(name):
        clause = tree.clause
        plain = tree.mood == "statement" and not tree.second and not clause.negative and clause.tense == "present"
        if plain and clause.predicate.verb and clause.subject:
            assert not is_twofold(clause.predicate.verb, clause.subject, clause.modality), clause


def test_kinds_of_time_by_tense_and_modality() -> None:
    assert when("present", "") == ("habit", "any")
    assert when("present", "progressive") == ("now",)
    assert when("past", "") == ("past", "any")
    assert when("present", "must") == ("future", "any")
    assert when("present", "experience") == ()
