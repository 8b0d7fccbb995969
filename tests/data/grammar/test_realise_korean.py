from __future__ import annotations

import pytest

from data.grammar.gold import GOLD
from glassformer.data.grammar.realise_korean import realise
from glassformer.data.grammar.tree import Sentence


@pytest.mark.parametrize(("tree", "korean"), [(tree, korean) for tree, korean, _ in GOLD], ids=[row[1] for row in GOLD])
def test_the_korean_of_a_tree(tree: Sentence, korean: str) -> None:
    assert " ".join(word.text for word in realise(tree)) == korean
