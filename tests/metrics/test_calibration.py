from __future__ import annotations

import numpy as np
import pytest

from glassformer.errors import InputError
from glassformer.metrics.calibration import Bin, calibration


def test_two_bins_worked_by_hand() -> None:
    # three answers at 0.9, one of them right; one answer at 0.6, right
    found = calibration([[0.9, 0.1], [0.1, 0.9], [0.9, 0.1], [0.4, 0.6]], [0, 0, 1, 1], bins=4)
    assert found.bins == [Bin(0.5, 0.75, 0.6, 1.0, 1), Bin(0.75, 1.0, pytest.approx(0.9), pytest.approx(1 / 3), 3)]
    assert found.error == pytest.approx((3 * (0.9 - 1 / 3) + 1 * 0.4) / 4)


def test_a_bin_holds_its_upper_end() -> None:
    assert calibration([[0.5, 0.5]], [0], bins=2).bins[0].high == 0.5
    assert calibration([[1.0, 0.0]], [0], bins=2).bins[0].high == 1.0


def test_who_is_right_as_often_as_he_says_has_no_error() -> None:
    chances = np.array([[0.75, 0.25]] * 4)
    assert calibration(chances, [0, 0, 0, 1]).error == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("probabilities", "labels", "message"),
    [
        ([[0.5, 0.5]], [0, 1], r"calibration: shapes \(1, 2\) and \(2,\) do not fit"),
        ([0.5, 0.5], [0, 1], r"calibration: shapes \(2,\) and \(2,\)"),
        (np.zeros((0, 2)), [], "calibration of nothing"),
        ([[3.0, -2.0]], [0], "calibration: 3.0 is not a probability between 0 and 1; give the softmax"),
        ([[float("nan"), 0.5]], [0], "calibration: nan is not a probability"),
        ([[0.5, 0.5]], [2], "calibration: label 2 is not one of 0 to 1"),
    ],
)
def test_bad_values_are_refused(probabilities: object, labels: list[int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        calibration(np.asarray(probabilities), labels)
