"""Which digits are confused: the confusion matrix of a classifier that learned from few images.

The model of the recipe `digits` is nearly always right, and four mistakes teach little. This one has seen too few
images, so its mistakes show what it confuses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from glassformer.data.examples import Arrays
from glassformer.lessons.lesson import Data, Lesson, no_verdicts
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.training.few_digits import digits, held_out_answers, training_images
from glassformer.metrics.classification import confusion, f1, most_confused
from glassformer.metrics.interval import wilson
from glassformer.show.drawing import bars, hover, pixels
from glassformer.show.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


SHOWN = 6  # wrong images in the picture
PAIRS = 5
EACH = 10  # training images of each digit


def run(setup: LessonSetup) -> Data:
    """Trains a small ViT on a few images of each digit and tests it on all other images."""
    experiment = digits(setup, {"kind": "cross_entropy"})
    images, unseen = training_images(experiment), experiment.material.validation
    assert isinstance(unseen, Arrays)
    few = images.select(_few(images.fields["label"], EACH))
    outcome = experiment.train(setup.seeds[0], training=few, validated=False)
    found = held_out_answers(experiment, outcome.model)
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
    """recall: the share of this digit that is found; precision: the share of its predictions that are right."""
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
    """The misclassified images of which the model was surest; pixels 0 … 1."""
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


COLUMNS = 6


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """The matrix on the left, recall on the right; misclassified images below, if there are any."""
    figure = theme.figure(10, 7)
    examples = [f"image{number}" for number in range(COLUMNS)]
    layout: list[Any] = [["matrix"] * 3 + ["recall"] * 3, examples]
    panels = figure.subplot_mosaic(layout, height_ratios=[3, 1])
    _matrix(panels["matrix"], data, theme, words)
    _recall(panels["recall"], data, theme, words)
    for number, name in enumerate(examples):
        axes = panels[name]
        axes.set_axis_off()
        if number < len(data["examples"]):
            one = data["examples"][number]
            pixels(axes, theme, one["pixels"])
            axes.set_title(words("taken", true=one["true"], said=one["said"], sure=f"{one['sure']:.0%}"), fontsize=9)
    return figure


def _matrix(axes: Axes, data: Data, theme: Theme, words: PictureWords) -> None:
    """Right answers in one colour, wrong ones in another, each shaded by its count relative to its kind."""
    from matplotlib.patches import Rectangle

    labels, matrix = data["labels"], data["matrix"]
    right = max(1, *(row[i] for i, row in enumerate(matrix)))
    wrong = max(1, *(count for i, row in enumerate(matrix) for j, count in enumerate(row) if i != j))
    for i, row in enumerate(matrix):
        for j, count in enumerate(row):
            share = count / right if i == j else count and 0.2 + 0.8 * count / wrong
            colour = (theme.heat if i == j else theme.below, share)
            cell = axes.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, facecolor=colour, linewidth=0))
            hover(cell, f"{labels[i]} → {labels[j]}: {count}")
            if count:
                axes.text(j, i, str(count), ha="center", va="center", fontsize=9, color=theme.ink)
    axes.set(xlim=(-0.5, len(labels) - 0.5), ylim=(len(labels) - 0.5, -0.5), aspect="equal")
    axes.set_xticks(range(len(labels)), labels)
    axes.set_yticks(range(len(labels)), labels)
    axes.grid(visible=False)
    axes.set_title(words("matrix", wrong=data["wrong"], images=data["images"]))
    axes.set_xlabel(words("said"))
    axes.set_ylabel(words("true"))


def _recall(axes: Axes, data: Data, theme: Theme, words: PictureWords) -> None:
    name = words("recall")
    recalls = [{**one, "mean": one["recall"]} for one in data["classes"]]
    bars(axes, theme, data["labels"], {name: recalls}, form=".1%", horizontal=True)
    axes.set_xlim(0, 1.18)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1.0])
    axes.xaxis.set_major_formatter("{x:.0%}")
    axes.set_title(name)


LESSON = Lesson(
    run=run,
    verdicts=no_verdicts,
    draw=draw,
    equation=r"C_{ij}=\#\{\,n: y_n=i,\ \hat y_n=j\,\},\qquad \mathrm{recall}_i=\frac{C_{ii}}{\sum_j C_{ij}}",
    formula="C_ij = #{n : y_n = i, ŷ_n = j},   recall_i = C_ii / Σ_j C_ij",
    sources=("metrics/classification.py", "tasks/image_classification/evaluation.py"),
    picture="confusion_matrix",
)
