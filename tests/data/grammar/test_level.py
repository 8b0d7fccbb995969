from __future__ import annotations

import pytest

from glassformer.data.grammar.compose import CONSTRUCTIONS
from glassformer.data.grammar.level import level_of
from glassformer.errors import ConfigError


def test_the_small_level_is_a_part_of_the_full_one() -> None:
    small, full = level_of("small"), level_of("full")
    assert set(small.lexicon.nouns) < set(full.lexicon.nouns)
    assert set(small.lexicon.verbs) < set(full.lexicon.verbs)
    lemmas = len(small.lexicon.nouns) + len(small.lexicon.verbs) + len(small.lexicon.adjectives)
    assert 200 <= lemmas <= 280
    assert small.limits.korean < full.limits.korean


@pytest.mark.parametrize("name", ["small", "full"])
def test_every_construction_of_a_level_is_known(name: str) -> None:
    assert {construction for construction, _ in level_of(name).constructions} <= set(CONSTRUCTIONS)


def test_the_full_level_uses_every_construction() -> None:
    assert {construction for construction, _ in level_of("full").constructions} == set(CONSTRUCTIONS)


@pytest.mark.parametrize("name", ["small", "full"])
def test_every_verb_and_adjective_finds_a_partner(name: str) -> None:
    of = level_of(name)
    for verb in of.verbs:
        if verb.object and verb.object != ("someone",):
            assert of.nouns(tuple(verb.object)), verb.lemma
        if verb.goal:
            assert of.nouns(verb.goal), verb.lemma
    for adjective in of.adjectives:
        assert of.nouns(adjective.of), adjective.lemma


def test_an_unknown_level_is_refused() -> None:
    with pytest.raises(ConfigError, match="level='huge' is unknown; use one of: small, full"):
        level_of("huge")
