from __future__ import annotations

import math

import pytest

from glassformer.lessons.training.letters import POINTS, curve


def test_a_curve_is_the_mean_of_seeds_and_neighbouring_steps() -> None:
    found = curve([[float(step) for step in range(80)], [float(step) + 2 for step in range(80)]])
    assert len(found["steps"]) == POINTS
    assert found["steps"][:2] == [2, 4] and found["steps"][-1] == 80
    assert found["mean"][0] == pytest.approx((0 + 1 + 2 + 3) / 4)
    assert found["low"][0] < found["mean"][0] < found["high"][0]


def test_a_run_that_broke_off_leaves_a_gap() -> None:
    found = curve([[1.0, 1.0, 1.0], [1.0, math.nan, 1.0]])
    assert found["mean"] == [1.0, None, 1.0]
