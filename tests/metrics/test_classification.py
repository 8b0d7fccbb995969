from __future__ import annotations

import numpy as np
import pytest

from glassformer.errors import InputError
from glassformer.metrics.classification import (
    Bin,
    Confused,
    accuracy,
    calibration,
    check_labels,
    confusion,
    f1,
    label_pair,
    most_confused,
)
from glassformer.metrics.interval import wilson


def test_labels_come_flat() -> None:
    first, second = label_pair("accuracy", [[1, 2], [3, 4]], [[1, 2], [3, 5]])
    assert (first.tolist(), second.tolist()) == ([1, 2, 3, 4], [1, 2, 3, 5])


def test_other_shapes_and_nothing_are_refused() -> None:
    with pytest.raises(InputError, match=r"accuracy: shapes \(2,\) and \(3,\) do not fit together"):
        label_pair("accuracy", [1, 2], [1, 2, 3])
    with pytest.raises(InputError, match="accuracy of nothing is undefined"):
        label_pair("accuracy", [], [])


@pytest.mark.parametrize("label", [-1, 3])
def test_a_label_out_of_range_is_refused(label: int) -> None:
    with pytest.raises(InputError, match=f"f1: label {label} is not one of 0 to 2; check the labels"):
        check_labels("f1", np.array([0, label]), 3)


def test_three_of_four() -> None:
    assert accuracy([0, 1, 1, 2], [0, 1, 2, 2]) == wilson(3, 4)


TRUE = [0, 0, 0, 0, 1, 1, 2, 2]
PREDICTED = [0, 1, 1, 2, 1, 0, 2, 0]


def test_rows_are_the_truth_and_columns_the_answer() -> None:
    assert confusion(PREDICTED, TRUE, 3).tolist() == [[1, 2, 1], [1, 1, 0], [1, 0, 1]]


def test_the_worst_pairs_come_first_and_ties_in_order() -> None:
    found = most_confused(confusion(PREDICTED, TRUE, 3), 3)
    assert found == [Confused(0, 1, 2, 0.5), Confused(0, 2, 1, 0.25), Confused(1, 0, 1, 0.5)]


def test_a_perfect_answer_confuses_nothing() -> None:
    assert most_confused(np.diag([3, 4])) == []


def test_labels_must_be_classes() -> None:
    with pytest.raises(InputError, match="confusion: label 5 is not one of 0 to 2"):
        confusion([5], [0], 3)
    with pytest.raises(InputError, match="confusion: label -1"):
        confusion([0], [-1], 3)


def test_two_classes_worked_by_hand() -> None:
    # of 10 true zeros 8 are found; of 5 true ones 3: zeros are said 10 times, ones 5 times
    found = f1(np.array([[8, 2], [2, 3]]))
    assert found.precision.tolist() == [0.8, 0.6]
    assert found.recall.tolist() == [0.8, 0.6]
    assert found.f1.tolist() == pytest.approx([0.8, 0.6])
    assert (found.macro, found.weighted) == pytest.approx((0.7, (10 * 0.8 + 5 * 0.6) / 15))


def test_precision_and_recall_differ_where_one_class_is_overdone() -> None:
    found = f1(np.array([[1, 3], [0, 4]]))
    assert found.precision.tolist() == pytest.approx([1.0, 4 / 7])
    assert found.recall.tolist() == [0.25, 1.0]
    assert found.f1.tolist() == pytest.approx([0.4, 8 / 11])


def test_a_class_that_never_occurs_has_zero_not_nan_and_no_part_in_the_mean() -> None:
    found = f1(np.array([[2, 0], [0, 0]]))
    assert (found.f1.tolist(), found.macro, found.weighted) == ([1.0, 0.0], 1.0, 1.0)
    nothing = f1(np.zeros((2, 2), dtype=np.int64))
    assert (nothing.macro, nothing.weighted) == (0.0, 0.0)


def test_a_class_that_is_only_said_or_only_true_counts() -> None:
    assert f1(np.array([[1, 1, 0], [0, 0, 0], [0, 0, 0]])).macro == pytest.approx((2 / 3 + 0) / 2)


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
