from __future__ import annotations

import math

import pytest

from glassformer.lessons.statistics import above, difference, interval


def test_an_interval_by_hand() -> None:
    """1, 2, 3: mean 2, s = 1, t of two degrees of freedom 4.303."""
    found = interval([1.0, 2.0, 3.0])
    half = 4.303 / math.sqrt(3)
    assert (found["mean"], found["n"]) == (2.0, 3)
    assert found["low"] == pytest.approx(2 - half) and found["high"] == pytest.approx(2 + half)


def test_one_value_has_no_spread() -> None:
    assert interval([5.0]) == {"mean": 5.0, "low": 5.0, "high": 5.0, "n": 1, "values": [5.0]}


def test_many_values_have_the_normal_distribution() -> None:
    values = [float(i % 2) for i in range(100)]
    half = 1.96 * math.sqrt(25 / 99) / 10
    assert interval(values)["high"] == pytest.approx(0.5 + half)


def test_a_run_that_diverged_has_no_mean() -> None:
    found = interval([1.0, math.nan])
    assert found == {"mean": None, "low": None, "high": None, "n": 2, "values": [1.0, None]}
    assert not above(found)


def test_what_is_common_to_pairs_drops_out() -> None:
    found = difference([101.0, 202.0, 303.0], [100.0, 201.0, 302.0])
    assert (found["low"], found["high"]) == (1.0, 1.0)
    assert above(found) and above(found, 0.5) and not above(found, 1.0)
    with pytest.raises(ValueError):
        difference([1.0], [1.0, 2.0])
