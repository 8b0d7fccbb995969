from __future__ import annotations

import numpy as np
import pytest

from glassformer.errors import InputError
from glassformer.metrics.labels import check_labels, label_pair


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
