from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from glassformer.errors import InputError
from glassformer.metrics.forecasting import Gain, direction, gain, mae, mase, mse
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


def test_a_gain_is_the_share_of_the_error_that_is_gone() -> None:
    others = np.full(100, 4.0)
    found = gain(np.full(100, 3.0), others, np.arange(100))
    assert found == Gain(0.25, 0.25, 0.25) and found.verdict == "better"
    assert gain(np.full(100, 5.0), others, np.arange(100)).verdict == "worse"


def test_noise_is_no_gain() -> None:
    random = np.random.default_rng(1)
    errors, others = random.exponential(size=(2, 400))
    found = gain(errors, others, np.arange(400))
    assert found.low < 0 < found.high and found.verdict == "same"


def test_what_happens_at_one_time_is_one_witness() -> None:
    """Ten copies of a series say no more than one of them."""
    random = np.random.default_rng(0)
    errors, others, at = random.exponential(size=60), random.exponential(size=60), np.arange(60)
    many, one = gain(np.tile(errors, 10), np.tile(others, 10), np.tile(at, 10)), gain(errors, others, at)
    assert vars(many) == pytest.approx(vars(one))


def test_too_short_a_time_has_no_interval() -> None:
    found = gain([1.0, 1.0], [2.0, 2.0], [0, 1], shortest=2)
    assert (found.value, found.low, found.high, found.verdict) == (0.5, -np.inf, np.inf, "same")


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(InputError, match=r"gain: shapes \(2,\) and \(1,\) do not fit together"):
        gain([1.0, 2.0], [1.0], [0, 1])
    with pytest.raises(InputError, match="gain of nothing is undefined"):
        gain([1.0], [0.0], [0])
