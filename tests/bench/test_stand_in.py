from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from glassformer.bench import stand_in
from glassformer.bench.stand_in import AT_ONCE, LONGEST, MEAN, WORDS, write_stand_in


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    """Both sides of a block and a little more, line by line."""
    paths = write_stand_in(tmp_path_factory.mktemp("corpus"), AT_ONCE + 50)
    return [path.read_text(encoding="utf-8").splitlines() for path in paths]


@pytest.mark.slow
def test_as_many_pairs_as_asked_for_of_the_lengths_of_sentences(corpus: list[list[str]]) -> None:
    lengths = [[len(line.split(" ")) for line in side] for side in corpus]
    assert len(lengths[0]) == AT_ONCE + 50
    assert lengths[0] == lengths[1]
    assert min(lengths[0]) >= 1 and max(lengths[0]) <= LONGEST
    assert abs(np.mean(lengths[0]) - MEAN) < 0.5


@pytest.mark.slow
def test_the_target_is_the_source_in_words_of_its_own_neighbours_exchanged(corpus: list[list[str]]) -> None:
    for source, target in zip(*corpus, strict=True):
        words = source.split()
        swapped = [words[i ^ 1] if i ^ 1 < len(words) else words[i] for i in range(len(words))]
        turned = ["".join(word[i : i + 2][::-1] for i in range(0, len(word), 2)) for word in swapped]
        assert target.split() == turned


@pytest.mark.slow
def test_words_follow_zipf_and_some_sentences_come_again(corpus: list[list[str]]) -> None:
    common = [count for _, count in Counter(word for line in corpus[0] for word in line.split()).most_common(500)]
    slope = np.polyfit(np.log(np.arange(1, 501)), np.log(common), 1)[0]
    assert abs(slope + 1) < 0.05
    repeated = AT_ONCE - len(set(corpus[0][:AT_ONCE]))
    assert AT_ONCE / 210 < repeated < AT_ONCE / 150


@pytest.mark.slow
def test_a_smaller_corpus_is_the_beginning_of_a_larger_one(corpus: list[list[str]], tmp_path: Path) -> None:
    for path, side in zip(write_stand_in(tmp_path, 100), corpus, strict=True):
        assert path.read_text(encoding="utf-8").splitlines() == side[:100]
    (tmp_path / "other").mkdir()
    other, _ = write_stand_in(tmp_path / "other", 100, seed=1)
    assert other.read_text(encoding="utf-8").splitlines() != corpus[0][:100]


@pytest.mark.slow
def test_every_word_is_another() -> None:
    spelled = stand_in._spelled("en")
    assert len(spelled) == WORDS
    assert len(np.unique(spelled.view(np.uint64).reshape(-1))) == WORDS


@pytest.mark.slow
def test_as_large_as_wmt14_it_has_more_than_two_million_different_words(corpus: list[list[str]]) -> None:
    """Expected: Σ 1 − (1 − p)ⁿ over all words of a side; the formula agrees with what a small corpus really holds."""
    chances = np.diff(stand_in._sums(), prepend=0.0)

    def different(words: float) -> float:
        return float(-np.expm1(words * np.log1p(-chances)).sum())

    sides = [{word for line in side for word in line.split()} for side in corpus]
    count = sum(len(line.split()) for line in corpus[0])
    assert len(sides[0]) == len(sides[1]) == pytest.approx(different(count), rel=0.01)
    assert not sides[0] & sides[1]
    assert 2 * different(4_500_000 * MEAN) > 2_000_000
