from __future__ import annotations

import numpy as np
import pytest

from glassformer.metrics.f1 import f1


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
