from __future__ import annotations

import pytest

from data.grammar.gold import GOLD
from glassformer.data.grammar import realise_korean
from glassformer.data.grammar.pair import alignment
from glassformer.data.grammar.realise_english import realise
from glassformer.data.grammar.tree import Sentence


@pytest.mark.parametrize(
    ("tree", "english"), [(tree, english) for tree, _, english in GOLD], ids=[row[2] for row in GOLD]
)
def test_the_english_of_a_tree(tree: Sentence, english: str) -> None:
    assert " ".join(word.text for word in realise(tree)) == english


@pytest.mark.parametrize("tree", [tree for tree, _, _ in GOLD], ids=[row[2] for row in GOLD])
def test_every_word_of_either_side_has_its_counterpart(tree: Sentence) -> None:
    korean, english = realise_korean.realise(tree), realise(tree)
    links = alignment(korean, english)
    assert {source for source, _ in links} == set(range(len(korean)))
    assert {target for _, target in links} == set(range(len(english)))


def test_the_alignment_crosses_where_the_languages_do() -> None:
    tree = GOLD[0][0]  # 나는 학교에 간다 = I go to school
    assert alignment(realise_korean.realise(tree), realise(tree)) == ((0, 0), (1, 2), (1, 3), (2, 1))
