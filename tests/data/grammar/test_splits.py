from __future__ import annotations

import pytest

from glassformer.data.grammar.level import LengthLimits, level_of
from glassformer.data.grammar.sample import pairs, trees
from glassformer.data.grammar.splits import combinations, is_held_out, percentile, sentence_split

LIMITS = LengthLimits(4, 5)


def test_a_percentile_is_the_same_everywhere() -> None:
    assert percentile("나는 학교에 간다") == percentile("나는 학교에 간다")
    spread = [percentile(str(number)) for number in range(5000)]
    assert min(spread) == 0 and max(spread) == 99
    assert 0.03 < sum(rank < 4 for rank in spread) / 5000 < 0.05


@pytest.mark.parametrize(
    ("held_out", "korean", "english", "expected"),
    [
        ({"verb-place"}, "가 나 다", "a b c", ("test", "verb-place")),
        ({"verb-place", "subject-verb"}, "가 나 다", "a b c", None),
        (set(), "가 나 다 라 마", "a b c d e f", ("test", "long")),
        (set(), "가 나 다 라 마", "a b c d e", None),
        (set(), "가 나 다 라", "a b c d e f", None),
        ({"verb-place"}, "가 나 다 라 마", "a b c d e f", None),
    ],
)
def test_where_a_sentence_belongs(
    held_out: set[str], korean: str, english: str, expected: tuple[str, str] | None
) -> None:
    assert sentence_split(held_out, korean, english, LIMITS) == expected


def test_sentences_without_news_go_to_all_three_splits() -> None:
    found = [sentence_split(set(), f"나 {number}", "a", LIMITS) for number in range(5000)]
    assert set(found) == {("train", "seen-like"), ("validation", "seen-like"), ("test", "seen-like")}
    assert found.count(("train", "seen-like")) > 4500


@pytest.mark.slow
@pytest.mark.parametrize("name", ["small", "full"])
def test_what_is_held_out_is_never_trained_on_and_always_tested(name: str) -> None:
    of = level_of(name)
    for split, count in (("train", 2000), ("validation", 40)):
        drawn = trees(split, 3, [of], ("seen-like",))
        for _, (tree, pair) in zip(range(count), drawn, strict=False):
            assert not any(is_held_out(combination) for combination in combinations(tree)), pair
    kinds = ("subject-verb", "adjective-noun", "verb-place")
    for _, (tree, pair) in zip(range(100), trees("test", 3, [of], kinds), strict=False):
        assert {found[0] for found in combinations(tree) if is_held_out(found)} == {pair.tags.kind}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["small", "full"])
def test_splits_share_no_sentence_whatever_the_seed(name: str) -> None:
    train = pairs("train", 3000, seed=1, level=name)
    korean, english = {pair.source_ko for pair in train}, {pair.target_en for pair in train}
    for split, seed in (("validation", 1), ("test", 2)):
        other = pairs(split, 80, seed=seed, level=name)
        assert not korean & {pair.source_ko for pair in other}
        assert not english & {pair.target_en for pair in other}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["small", "full"])
def test_long_sentences_are_longer_than_any_trained_on(name: str) -> None:
    train = pairs("train", 1500, level=name)
    long = pairs("test", 20, level=name, kinds=("long",))
    assert max(len(pair.source_ko.split()) for pair in train) < min(len(pair.source_ko.split()) for pair in long)
    assert max(len(pair.target_en.split()) for pair in train) < min(len(pair.target_en.split()) for pair in long)
