from __future__ import annotations

import numpy as np
import pytest

from glassformer.errors import InputError
from glassformer.metrics.skill import Gain, gain


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
