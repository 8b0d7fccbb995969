from __future__ import annotations

import numpy as np
import pytest

from glassformer.lessons.evaluation.confusion_matrix import EACH, _examples, _few, _of_class, run
from glassformer.lessons.record import RECORDED, LessonResult
from glassformer.lessons.setup import LessonSetup


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
    first, second = (run(LessonSetup(seeds=(seed,), effort=0.02)) for seed in (0, 1))
    for found in (first, second):
        assert np.sum(found["matrix"]) == found["images"]
        assert np.sum(found["matrix"]) - np.trace(found["matrix"]) == found["wrong"]
    assert first["matrix"] != second["matrix"]


def test_few_images_of_every_class_are_learned_from() -> None:
    labels = np.array([1, 0, 1, 1, 0, 2])
    assert _few(labels, 2).tolist() == [0, 1, 2, 4, 5]


def test_there_is_something_to_see() -> None:
    """Recorded: more pairs of classes are confused than there are classes."""
    data = LessonResult.read(RECORDED / "confusion_matrix.json").data
    off = [count for i, row in enumerate(data["matrix"]) for j, count in enumerate(row) if i != j]
    assert sum(1 for count in off if count) > len(data["labels"]) and data["learned"] == EACH * len(data["labels"])
