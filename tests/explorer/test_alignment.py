from __future__ import annotations

from glassformer.explorer.alignment import align, matched


def test_texts_of_one_length_lie_side_by_side_whatever_they_say() -> None:
    found = align(["a", "b"], ["x", "a"], words=True)
    assert (found.how, found.pairs, found.rows) == ("position", [(0, 0), (1, 1)], ([0, 1], [0, 1]))


def test_otherwise_only_what_both_texts_have_belongs_together() -> None:
    found = align(["나는", "매일", "학교에", "간다"], ["나는", "집에", "간다"], words=True)
    assert found.how == "pieces"
    assert found.pairs == [(0, 0), (1, None), (2, None), (None, 1), (3, 2)]
    assert found.rows == ([0, 3], [0, 2])


def test_nothing_in_common_and_patches_of_another_grid() -> None:
    for found in (align(["a"], ["b", "c"], words=True), align(["0"], ["0", "1"], words=False)):
        assert (found.how, found.shared) == ("none", [])
        assert found.pairs == [(0, None), (None, 0), (None, 1)]


def test_every_element_of_both_stands_in_the_pairs_once_and_in_order() -> None:
    one, other = list("abcabba"), list("cbabac")
    pairs = matched(one, other)
    assert [i for i, _ in pairs if i is not None] == list(range(7))
    assert [j for _, j in pairs if j is not None] == list(range(6))
    assert all(one[i] == other[j] for i, j in pairs if i is not None and j is not None)
