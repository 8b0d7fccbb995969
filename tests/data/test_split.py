from __future__ import annotations

from hashlib import sha1

from hypothesis import given
from hypothesis import strategies as st

from glassformer.data.pairs import Pairs
from glassformer.data.split import _groups, hashed

PARTS = ("train", "val", "test")


def test_the_rule_of_the_documentation_on_one_pair() -> None:
    for sentence in ("Go.", "Hi.", "Who?", "I go to school.", "나는 간다"):
        number = int(sha1(sentence.encode()).hexdigest(), 16) % 20
        expected = "test" if number == 0 else "val" if number == 1 else "train"
        assert [part for part in PARTS if len(hashed(Pairs([sentence], ["x"]), part))] == [expected]


def test_pairs_that_are_linked_over_several_steps_stay_together() -> None:
    pairs = Pairs(["a", "b", "b", "c", "z"], ["1", "1", "2", "2", "9"])
    assert _groups(pairs) == [0, 0, 0, 0, 4]


sentence = st.text("abc", min_size=1, max_size=3)


@given(st.lists(st.tuples(sentence, sentence), min_size=1, max_size=60))
def test_no_sentence_of_either_side_stands_in_two_parts_and_none_is_lost(rows: list[tuple[str, str]]) -> None:
    pairs = Pairs([source for source, _ in rows], [target for _, target in rows])
    parts = {part: list(hashed(pairs, part)) for part in PARTS}
    assert sorted(pair for part in parts.values() for pair in part) == sorted(rows)
    for one in PARTS:
        for other in PARTS:
            if one != other:
                for side in (0, 1):
                    assert not {pair[side] for pair in parts[one]} & {pair[side] for pair in parts[other]}


@given(st.lists(st.tuples(sentence, sentence), min_size=1, max_size=30), st.randoms())
def test_the_order_of_the_file_does_not_matter(rows: list[tuple[str, str]], random: object) -> None:
    mixed = list(rows)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    for part in PARTS:
        found = [hashed(Pairs([a for a, _ in each], [b for _, b in each]), part) for each in (rows, mixed)]
        assert sorted(found[0]) == sorted(found[1])
