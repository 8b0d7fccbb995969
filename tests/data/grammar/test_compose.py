from __future__ import annotations

import pytest

from glassformer.data.grammar.choose import Drawn
from glassformer.data.grammar.compose import CONSTRUCTIONS, compose
from glassformer.data.grammar.level import level_of

FULL = level_of("full")


@pytest.mark.parametrize("name", CONSTRUCTIONS)
def test_every_construction_says_something(name: str) -> None:
    said = [compose(Drawn(f"{name}:{index}"), FULL, name) for index in range(60)]
    assert sum(tree is not None for tree in said) >= 6


def test_every_speech_level_is_used() -> None:
    said = [compose(Drawn(f"level:{index}"), FULL) for index in range(400)]
    assert {tree.speech for tree in said if tree} == {"plain", "casual", "polite", "formal"}


def test_suggestions_are_not_made_in_the_polite_style() -> None:
    said = [compose(Drawn(f"suggestion:{index}"), FULL, "suggestion") for index in range(300)]
    assert {tree.speech for tree in said if tree} == {"plain", "casual", "formal"}
