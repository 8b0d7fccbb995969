from __future__ import annotations

import numpy as np
import pytest

from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.training.few_digits import HELD_OUT, DigitAnswers, digits, held_out_answers, training_images
from glassformer.models.build import build


def test_confidence_accuracy_and_recall() -> None:
    found = DigitAnswers(np.array([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7]]), np.array([0, 1, 1]))
    assert found.confidence == pytest.approx((0.9 + 0.6 + 0.7) / 3)
    assert found.accuracy == pytest.approx(2 / 3)
    assert found.right(found.labels == 1) == pytest.approx(1 / 2)


def test_nothing_held_out_is_trained_on() -> None:
    experiment = digits(LessonSetup(effort=0.01), {"kind": "cross_entropy"})
    seen = {image.tobytes() for image in training_images(experiment).fields["image"]}
    held_out = experiment.material.validation
    assert held_out is not None and abs(len(held_out) - HELD_OUT) <= 2
    both = [i for i in range(len(held_out)) if held_out[i][0].tobytes() in seen]
    assert len(both) <= 2  # scikit-learn's set has hardly any image twice
    said = held_out_answers(experiment, build(experiment.material.config.model, seed=0).eval())
    assert said.probabilities.shape == (len(held_out), 10)
    assert said.probabilities.sum(axis=1) == pytest.approx(np.ones(len(held_out)))
