"""Which digit is taken for which: the confusion matrix of a classifier that learned from few images.

The model of the recipe `digits` is nearly always right, and a matrix of four mistakes teaches little: here it has seen
too few images, and its mistakes show what it confuses.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassformer.data.arrays import Arrays
from glassformer.lessons.desk import Desk
from glassformer.lessons.evaluation.confusion_matrix_picture import draw
from glassformer.lessons.lesson import Data, Lesson, no_verdicts
from glassformer.lessons.training.few_digits import answers, digits, training_images
from glassformer.metrics.classification import confusion, f1, most_confused
from glassformer.metrics.interval import wilson

SHOWN = 6  # wrong images in the picture
PAIRS = 5
EACH = 10  # training images of each digit


def run(desk: Desk) -> Data:
    """A small ViT on a few images of each digit, then all images that it did not see."""
    experiment = digits(desk, {"kind": "cross_entropy"})
    images, unseen = training_images(experiment), experiment.material.validation
    assert isinstance(unseen, Arrays)
    few = images.select(_few(images.fields["label"], EACH))
    outcome = experiment.train(desk.seeds[0], training=few, validated=False)
    found = answers(experiment, outcome.model)
    true, probabilities = found.labels, found.probabilities
    labels = [str(number) for number in range(probabilities.shape[1])]
    said = probabilities.argmax(1)
    matrix = confusion(said, true, len(labels))
    right = wilson(int((said == true).sum()), len(true))
    return {
        "labels": labels,
        "learned": len(few),
        "each": EACH,
        "steps": outcome.config.train.steps,
        "matrix": matrix.tolist(),
        "images": len(true),
        "wrong": int((said != true).sum()),
        "accuracy": {"value": right.value, "low": right.low, "high": right.high},
        "f1": f1(matrix).macro,
        "classes": [_of_class(matrix, number) for number in range(len(matrix))],
        "worst": min((_of_class(matrix, number) for number in range(len(matrix))), key=lambda one: one["recall"]),
        "confused": [vars(one) for one in most_confused(matrix, PAIRS)],
        "pairs": ", ".join(f"{one.true} → {one.predicted} ({one.count})" for one in most_confused(matrix, PAIRS)),
        "examples": _examples(unseen.fields["image"], true, probabilities),
        "sure_right": _mean(probabilities.max(1)[said == true]),
        "sure_wrong": _mean(probabilities.max(1)[said != true]),
    }


def _few(labels: NDArray[Any], each: int) -> NDArray[np.int64]:
    """The first `each` images of every class."""
    chosen = [np.flatnonzero(np.asarray(labels) == label)[:each] for label in np.unique(labels)]
    return np.sort(np.concatenate(chosen))


def _of_class(matrix: NDArray[np.int64], number: int) -> dict[str, Any]:
    """recall: of this digit, how many are found; precision: of what is called so, how many are it."""
    hits, true, said = int(matrix[number, number]), int(matrix[number].sum()), int(matrix[:, number].sum())
    found = wilson(hits, max(true, 1))
    return {
        "label": number,
        "count": true,
        "recall": found.value,
        "low": found.low,
        "high": found.high,
        "precision": hits / said if said else None,
    }


def _examples(
    pixels: NDArray[np.uint8], true: NDArray[Any], probabilities: NDArray[np.float64]
) -> list[dict[str, Any]]:
    """The wrong images of which the model was surest; pixels 0 … 1."""
    said = probabilities.argmax(1)
    wrong = np.flatnonzero(said != true)
    order = wrong[np.argsort(-probabilities.max(1)[wrong], kind="stable")][:SHOWN]
    return [
        {
            "true": int(true[i]),
            "said": int(said[i]),
            "sure": float(probabilities[i].max()),
            "pixels": (pixels[i, 0] / 255).round(3).tolist(),
        }
        for i in order
    ]


def _mean(values: NDArray[np.float64]) -> float | None:
    return float(values.mean()) if len(values) else None


LESSON = Lesson(
    run=run,
    verdicts=no_verdicts,
    draw=draw,
    equation=r"C_{ij}=\#\{\,n: y_n=i,\ \hat y_n=j\,\},\qquad \mathrm{recall}_i=\frac{C_{ii}}{\sum_j C_{ij}}",
    formula="C_ij = #{n : y_n = i, ŷ_n = j},   recall_i = C_ii / Σ_j C_ij",
    sources=("metrics/classification.py", "metrics/classification.py", "evaluation/image_classification.py"),
    picture="confusion_matrix",
)
