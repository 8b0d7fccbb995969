from __future__ import annotations

import numpy as np
import pytest

from glassformer.errors import InputError
from glassformer.metrics.confusion import Confused, confusion, most_confused

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
