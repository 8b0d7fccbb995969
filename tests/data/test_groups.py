from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from glassformer.data.corpus import content_mark, held_out
from glassformer.data.documents import Documents
from glassformer.data.groups import drawn_apart, drawn_by_content, linked
from glassformer.data.pairs import Pairs, apart

WORD = st.text("abc", min_size=1, max_size=3)
ROWS = st.lists(st.tuples(WORD, WORD), min_size=1, max_size=60)


def linked_one_by_one(pairs: Pairs) -> list[int]:
    """The same groups, found with dictionaries."""
    parent = list(range(len(pairs)))

    def find(i: int) -> int:
        while parent[i] != i:
            i = parent[i]
        return i

    for side in (pairs.sources, pairs.targets):
        seen: dict[str, int] = {}
        for i, sentence in enumerate(side):
            one, other = sorted((find(i), find(seen.setdefault(sentence, i))))
            parent[other] = one
    return [find(i) for i in range(len(pairs))]


def test_rows_that_are_linked_over_several_steps_stay_together() -> None:
    assert linked(["a", "b", "b", "c", "z"], ["1", "1", "2", "2", "9"]).tolist() == [0, 0, 0, 0, 4]
    assert linked(["a", "b", "a"]).tolist() == [0, 1, 0]


@given(ROWS, st.integers(0, 40), st.integers(0, 3))
def test_groups_and_what_is_held_out_are_those_found_with_dictionaries(
    rows: list[tuple[str, str]], number: int, seed: int
) -> None:
    pairs = Pairs([source for source, _ in rows], [target for _, target in rows])
    groups = linked_one_by_one(pairs)
    assert linked(pairs.sources, pairs.targets).tolist() == groups
    expected = held_out(pairs, [content_mark(seed, str(group).encode()) for group in groups], number)
    assert apart(pairs, number, seed) == expected


@given(st.lists(WORD, min_size=1, max_size=60), st.integers(0, 40), st.integers(0, 3))
def test_equal_texts_are_held_out_together_as_before(texts: list[str], number: int, seed: int) -> None:
    rest, kept = held_out(Documents(texts), [content_mark(seed, text.encode()) for text in texts], number)
    found = [[texts[i] for i in rows.tolist()] for rows in drawn_by_content(texts, number, seed)]
    assert found == [rest.texts, kept.texts]


def test_at_most_half_is_held_out_and_nothing_is_lost() -> None:
    rest, kept = drawn_apart(linked([str(i) for i in range(11)]), 99, seed=0)
    assert (len(rest), len(kept)) == (6, 5)
    assert sorted([*rest.tolist(), *kept.tolist()]) == list(range(11))
