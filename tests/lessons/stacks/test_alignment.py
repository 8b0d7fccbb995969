from __future__ import annotations

import pytest
import torch

from glassformer.lessons.stacks.alignment import chance, diagonal, error_rate, least, strongest, word_weights, words_of
from glassformer.text.bpe import Bpe

RIGHT = [frozenset({(0, 0), (1, 1)})]


def test_the_error_rate_counts_links_of_both_sides() -> None:
    assert error_rate(RIGHT, RIGHT) == 0
    assert error_rate([frozenset({(1, 0), (0, 1)})], RIGHT) == 1
    assert error_rate([frozenset({(0, 0), (0, 1)})], RIGHT) == pytest.approx(1 - 2 * 1 / 4)


def test_what_needs_no_model() -> None:
    assert diagonal(3, 3) == {(0, 0), (1, 1), (2, 2)}
    assert diagonal(2, 1) == {(0, 0)}
    assert chance(RIGHT, [(2, 2)]) == pytest.approx(1 - 2 * (2 / 2) / 4)


def test_one_link_a_word_cannot_reach_words_with_two_partners() -> None:
    assert least(RIGHT) == 0
    assert least([frozenset({(0, 0), (1, 0)})]) == pytest.approx(1 - 2 * 1 / 3)


def test_pieces_become_words_by_sum_over_sources_and_mean_over_targets() -> None:
    weights = torch.tensor([[0.2, 0.3, 0.5, 0.0], [0.4, 0.4, 0.0, 0.2]])  # two pieces of one target word; eos last
    found = word_weights(weights, [0, 0, 1], [0, 0])
    assert found.tolist() == [pytest.approx([0.65, 0.25])]
    assert strongest(found) == {(0, 0)}


def test_a_piece_belongs_to_the_word_in_which_it_ends() -> None:
    text = "나는 학교에 간다"
    tokenizer = Bpe.train([text] * 3, 275)
    words = words_of(tokenizer, text)
    assert len(words) == len(tokenizer.encode(text))
    assert words == sorted(words) and set(words) == {0, 1, 2}
