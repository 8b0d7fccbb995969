from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from glassformer.errors import InputError
from glassformer.metrics.forecast import direction, mae, mase, mse
from glassformer.metrics.interval import wilson


def test_errors_worked_by_hand() -> None:
    assert mse([1, 2, 5], [1, 4, 2]) == pytest.approx((0 + 4 + 9) / 3)
    assert mae([1, 2, 5], [1, 4, 2]) == pytest.approx((0 + 2 + 3) / 3)


def test_every_value_of_every_window_weighs_the_same() -> None:
    assert mse(np.ones((2, 3, 4)), np.zeros((2, 3, 4))) == 1.0


def test_mase_divides_by_the_naive_error_of_the_history() -> None:
    assert mase([10, 12], [11, 11], [1, 3, 2, 6]) == pytest.approx(1.0 / ((2 + 1 + 4) / 3))
    assert mase([10, 12], [11, 11], [1, 3, 2, 6], season=2) == pytest.approx(1.0 / ((1 + 3) / 2))


def test_repeating_the_last_value_has_a_mase_of_about_one() -> None:
    walk = np.cumsum(np.random.default_rng(0).normal(size=20_000))
    assert mase(walk[10_000:-1], walk[10_001:], walk[:10_000]) == pytest.approx(1.0, abs=0.02)


def test_direction_counts_only_what_moves() -> None:
    assert direction([2, 0, 1, 5], [3, 3, 0, 1], 1) == wilson(1, 3)  # up right; down wrong; no change wrong; unmoved
    assert direction([2, 2], [3, 0], [1, 3]) == wilson(2, 2)


@pytest.mark.parametrize("error", [mse, mae])
def test_bad_values_are_refused(error: Callable[..., float]) -> None:
    with pytest.raises(InputError, match=r"shapes \(1,\) and \(2,\) do not fit"):
        error([1], [1, 2])
    with pytest.raises(InputError, match="of nothing is undefined"):
        error([], [])
    with pytest.raises(InputError, match="NaN or infinity among the values; mend"):
        error([1, float("nan")], [1, 2])


@pytest.mark.parametrize(("history", "season"), [([1], 1), ([], 1), ([2, 2, 2], 1), ([1, 2], 2), ([1, 2], 0)])
def test_a_history_without_change_is_refused(history: list[float], season: int) -> None:
    with pytest.raises(InputError, match=f"mase: a history of {len(history)} values and season {season} give no error"):
        mase([1], [2], history, season)


def test_a_history_with_gaps_and_a_series_that_never_moves_are_refused() -> None:
    with pytest.raises(InputError, match="mase: NaN or infinity"):
        mase([1], [2], [1, float("nan"), 2])
    with pytest.raises(InputError, match="direction of nothing"):
        direction([1, 2], [3, 3], 3)
