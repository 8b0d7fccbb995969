from __future__ import annotations

import math
from dataclasses import replace
from math import inf, log

import numpy as np
import pytest

from glassformer.errors import InputError
from glassformer.metrics.language import HIGHEST, UNICODE, NGrams, bits_per_character, discounts, perplexity


def test_a_fair_choice_among_eight() -> None:
    found = perplexity(5 * log(8), 5)
    assert (found.nats, found.bits, found.perplexity, found.tokens) == pytest.approx((log(8), 3.0, 8.0, 5))


def test_bits_per_character_share_the_same_loss_among_more() -> None:
    assert bits_per_character(4 * log(8), 12) == pytest.approx(1.0)


def test_a_hopeless_model_has_infinite_perplexity_not_an_error() -> None:
    assert perplexity(1000.0, 1).perplexity == inf
    assert perplexity(0.0, 3).perplexity == 1.0


def test_no_tokens_and_no_number_are_refused() -> None:
    with pytest.raises(InputError, match="perplexity of nothing is undefined"):
        perplexity(1.0, 0)
    with pytest.raises(InputError, match="perplexity: NaN or infinity among the values"):
        bits_per_character(float("nan"), 3)


def open_ended(fitted: NGrams) -> NGrams:
    """The same counts, asked without an end."""
    return replace(fitted, closed=False)


@pytest.mark.parametrize("context", ["", "a", "ab", "abc", "abab", "xyz"])
def test_probabilities_of_all_that_may_follow_add_up_to_one(context: str) -> None:
    closed = NGrams.fit(["abab", "abba", "cab", "abcabc"])
    stream = open_ended(closed)
    before = stream.nats([context]) if context else dict.fromkeys(range(1, HIGHEST + 1), 0.0)
    for order in range(1, HIGHEST + 1):
        said = [stream.nats([context + character])[order] for character in "abc"]
        unknown = stream.nats([context + "?"])[order] - math.log(UNICODE)
        every = [*said, unknown, closed.nats([context])[order]]
        assert sum(math.exp(before[order] - nats) for nats in every) == pytest.approx(1.0, abs=1e-12)


def test_an_order_of_one_knows_frequencies_alone() -> None:
    """By hand: 3 a, 1 b, 1 end; one half is taken from each, and 3 · ½ / 5 shared by a, b, the end and the unknown."""
    fitted = NGrams.fit(["aaab"])
    share = 1.5 / 5 / 4
    wanted = -(math.log(2.5 / 5 + share) + math.log(0.5 / 5 + share))
    assert fitted.nats(["a"])[1] == pytest.approx(wanted, abs=1e-12)


def test_longer_orders_see_further() -> None:
    random = np.random.default_rng(0)
    text = "".join(random.choice(["abcx", "bcay", "cabz"], 600))
    nats = NGrams.fit([text], closed=False).nats([text[:400]])
    assert nats[1] > nats[2] > nats[3] and nats[4] < 0.35 * 400


def test_documents_begin_anew_and_a_stream_does_not() -> None:
    texts = ["ab"] * 20 + ["cd"] * 20
    closed, stream = NGrams.fit(texts), NGrams.fit(texts, closed=False)
    assert closed.nats(["ab", "cd"])[4] == pytest.approx(closed.nats(["ab"])[4] + closed.nats(["cd"])[4])
    assert stream.nats(["ab", "ab"])[4] < closed.nats(["ab", "ab"])[4]


def test_the_first_characters_may_be_given() -> None:
    fitted = NGrams.fit(["abcabc" * 9], closed=False)
    assert fitted.nats(["abc"], skip=1)[3] < fitted.nats(["abc"])[3]
    assert fitted.nats(["abc"], skip=3) == dict.fromkeys(range(1, HIGHEST + 1), 0.0)


def test_a_character_never_seen_is_not_impossible() -> None:
    fitted = NGrams.fit(["hello"] * 3)
    assert math.log(UNICODE) < fitted.nats(["한"])[2] < 40


def test_the_best_order_is_chosen_by_texts_of_its_own() -> None:
    random = np.random.default_rng(1)
    letters = ["".join(random.choice(list("ab"), 30)) for _ in range(40)]
    words = ["the quick brown fox jumps over the lazy dog"] * 20
    assert NGrams.fit(letters[:20]).best_order(letters[20:]) <= 2
    assert NGrams.fit(words).best_order(words) >= 4


def test_discounts_follow_chen_and_goodman() -> None:
    counts = np.repeat([1, 2, 3, 4], [40, 20, 10, 5])
    y = 40 / 80
    wanted = [0, 1 - 2 * y * 20 / 40, 2 - 3 * y * 10 / 20, 3 - 4 * y * 5 / 10]
    assert discounts(counts) == pytest.approx(wanted)
    assert discounts(np.array([1, 1, 7])) == pytest.approx([0, 0.5, 0.5, 0.5])


def test_nothing_cannot_be_counted() -> None:
    with pytest.raises(InputError, match="ngram of nothing"):
        NGrams.fit([""])
