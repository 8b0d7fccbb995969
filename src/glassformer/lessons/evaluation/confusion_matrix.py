"""Which digit is taken for which: the confusion matrix of a trained classifier on images it never saw."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from glassformer.generate.step import evaluating
from glassformer.lessons.desk import Desk
from glassformer.lessons.evaluation.confusion_matrix_picture import draw
from glassformer.lessons.lesson import Data, Lesson, no_verdicts
from glassformer.metrics.confusion import confusion, most_confused
from glassformer.metrics.f1 import f1
from glassformer.metrics.interval import wilson
from glassformer.open import Loaded
from glassformer.tasks.image_classification import ImageClassification, corpus_of

SHOWN = 6  # wrong images in the picture
PAIRS = 5


def run(desk: Desk) -> Data:
    """The test part of the digits, through the model of the recipe."""
    loaded = desk.model("digits")
    task = ImageClassification.make(loaded.config)
    pictures = corpus_of(loaded.config).split("test")["test"]
    store = task.encode(pictures, loaded.config)
    true = np.asarray(store.fields["label"])
    probabilities = _probabilities(loaded, task, store)
    said = probabilities.argmax(1)
    matrix = confusion(said, true, len(task.labels))
    right = wilson(int((said == true).sum()), len(true))
    return {
        "labels": list(task.labels),
        "matrix": matrix.tolist(),
        "images": len(true),
        "wrong": int((said != true).sum()),
        "accuracy": {"value": right.value, "low": right.low, "high": right.high},
        "f1": f1(matrix).macro,
        "classes": [_of_class(matrix, number) for number in range(len(matrix))],
        "worst": min((_of_class(matrix, number) for number in range(len(matrix))), key=lambda one: one["recall"]),
        "confused": [vars(one) for one in most_confused(matrix, PAIRS)],
        "pairs": ", ".join(f"{one.true} → {one.predicted} ({one.count})" for one in most_confused(matrix, PAIRS)),
        "examples": _examples(pictures.pixels, true, probabilities),
        "sure_right": _mean(probabilities.max(1)[said == true]),
        "sure_wrong": _mean(probabilities.max(1)[said != true]),
    }


@torch.no_grad()
def _probabilities(loaded: Loaded, task: ImageClassification, store: Any) -> NDArray[np.float64]:
    """Images × classes."""
    with evaluating(loaded.model):
        batch = task.collate([store[i] for i in range(len(store))])
        return task.logits(loaded.model, batch).double().softmax(-1).numpy()


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
    models=("digits",),
    equation=r"C_{ij}=\#\{\,n: y_n=i,\ \hat y_n=j\,\},\qquad \mathrm{recall}_i=\frac{C_{ii}}{\sum_j C_{ij}}",
    formula="C_ij = #{n : y_n = i, ŷ_n = j},   recall_i = C_ii / Σ_j C_ij",
    sources=("metrics/confusion.py", "metrics/f1.py", "evaluate/image_classification.py"),
    picture="confusion_matrix",
)
