from __future__ import annotations

from math import inf, log

import pytest

from glassformer.errors import InputError
from glassformer.metrics.perplexity import bits_per_character, perplexity


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
