from __future__ import annotations

from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.errors import InputError
from glassformer.metrics.interval import Z, wilson


def test_half_of_ten_worked_by_hand() -> None:
    z = Z**2 / 10
    half = Z * sqrt(0.25 / 10 + z / 40) / (1 + z)
    found = wilson(5, 10)
    assert (found.value, found.hits, found.total) == (0.5, 5, 10)
    assert (found.low, found.high) == pytest.approx((0.5 - half, 0.5 + half))
    assert (found.low, found.high) == pytest.approx((0.236593, 0.763407), abs=1e-6)  # the textbook's figures


def test_all_or_nothing_is_not_certain() -> None:
    assert wilson(50, 50).low == pytest.approx(50 / (50 + Z**2))
    assert wilson(50, 50).high == 1.0
    assert (wilson(0, 50).low, wilson(0, 50).high) == pytest.approx((0.0, Z**2 / (50 + Z**2)))


@given(st.integers(1, 10**6), st.floats(0, 1))
def test_the_interval_holds_the_share_and_stays_within_bounds(total: int, share: float) -> None:
    found = wilson(round(share * total), total)
    assert 0 <= found.low <= found.value <= found.high <= 1


def test_nothing_has_no_share() -> None:
    with pytest.raises(InputError, match="wilson of nothing is undefined; give at least one value"):
        wilson(0, 0)
