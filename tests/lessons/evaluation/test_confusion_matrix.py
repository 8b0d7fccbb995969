from __future__ import annotations

import numpy as np
import pytest

from glassformer.lessons.evaluation.confusion_matrix import _examples, _of_class, run
from lesson_models import tiny_desk


def test_recall_and_precision_of_a_class() -> None:
    matrix = np.array([[3, 1], [0, 4]])
    found = _of_class(matrix, 0)
    assert found["recall"] == 0.75 and found["precision"] == 1.0 and found["count"] == 4
    assert found["low"] < 0.75 < found["high"]


def test_the_surest_mistake_stands_first() -> None:
    probabilities = np.array([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]])
    found = _examples(np.zeros((3, 1, 8, 8), dtype=np.uint8), np.array([0, 0, 0]), probabilities)
    assert [one["sure"] for one in found] == [0.8, 0.6]


@pytest.mark.slow
def test_every_image_is_counted_and_another_model_is_wrong_elsewhere() -> None:
    first, second = (run(tiny_desk("confusion_matrix", seed=seed)) for seed in (0, 1))
    for found in (first, second):
        assert np.sum(found["matrix"]) == found["images"]
        assert np.sum(found["matrix"]) - np.trace(found["matrix"]) == found["wrong"]
    assert first["matrix"] != second["matrix"]
