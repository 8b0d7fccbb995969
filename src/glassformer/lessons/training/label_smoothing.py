"""Soft targets and what they do to confidence: short trainings on few and on many images, §5.4.

Claim smoothing-calibrates; the rule is in `verdicts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from glassformer.lessons.experiment import Experiment
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.statistics import difference, differences, interval
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.training.few_digits import DigitAnswers, digits, held_out_answers, training_images
from glassformer.lessons.verdict import Verdict, less
from glassformer.losses import cross_entropy
from glassformer.metrics.classification import calibration
from glassformer.show.drawing import bars, hover
from glassformer.show.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


SMOOTHINGS = (0.0, 0.1, 0.2)
PAPER = 0.1
SIZES = {"few": 100, "many": 1000}  # training images
CLASSES, TARGET = 10, 3  # in the soft target shown
MEASURES = ("confidence", "error")
BINS = 10  # in the diagram; the error itself uses 15


def run(setup: LessonSetup) -> Data:
    """Every smoothing with every size; the seed chooses the images and the initial weights."""
    experiments = {smoothing: digits(setup, _loss(smoothing)) for smoothing in SMOOTHINGS}
    places = [(size, smoothing) for size in SIZES for smoothing in SMOOTHINGS]
    seen = {place: _look(setup, experiments[place[1]], SIZES[place[0]]) for place in setup.each("smoothing", places)}
    some = experiments[PAPER].material
    assert some.validation is not None
    return {
        "classes": CLASSES,
        "target": TARGET,
        "smoothings": list(SMOOTHINGS),
        "paper": PAPER,
        "targets": {_name(smoothing): soft_target(smoothing) for smoothing in SMOOTHINGS},
        "images": SIZES,
        "held_out": len(some.validation),
        "steps": some.config.train.steps,
        "sizes": {size: {_name(smoothing): seen[size, smoothing] for smoothing in SMOOTHINGS} for size in SIZES},
        "effects": {size: _effects(seen[size, PAPER], seen[size, 0.0]) for size in SIZES},
    }


def _loss(smoothing: float) -> dict[str, Any]:
    return {"kind": "cross_entropy", "smoothing": smoothing}


def _name(smoothing: float) -> str:
    return f"e{round(100 * smoothing)}"  # a key of JSON has no dot


def soft_target(smoothing: float) -> list[float]:
    """The q that the loss really uses, from its gradient: ∂L/∂z = p − q, so q = p − ∂L/∂z."""
    logits = torch.zeros(1, CLASSES, dtype=torch.float64, requires_grad=True)
    cross_entropy(logits, torch.tensor([TARGET]), smoothing=smoothing).total.backward()
    assert logits.grad is not None
    wanted: list[float] = (logits.softmax(-1) - logits.grad).detach()[0].tolist()
    return wanted


def _look(setup: LessonSetup, experiment: Experiment, count: int) -> dict[str, Any]:
    found = [_train(experiment, seed, count) for seed in setup.seeds]
    together = DigitAnswers(
        np.concatenate([one.probabilities for one in found]), np.concatenate([one.labels for one in found])
    )
    return {
        "confidence": interval([one.confidence for one in found]),
        "accuracy": interval([one.accuracy for one in found]),
        "error": interval([calibration(one.probabilities, one.labels).error for one in found]),
        "bins": _bins(together),
    }


def _train(experiment: Experiment, seed: int, count: int) -> DigitAnswers:
    images = training_images(experiment)
    chosen = np.sort(np.random.default_rng(seed).permutation(len(images))[:count])
    return held_out_answers(experiment, experiment.train(seed, training=images.select(chosen), validated=False).model)


def _bins(some: DigitAnswers) -> list[dict[str, Any]]:
    """The bins of the reliability diagram, all seeds together."""
    return [
        {"confidence": one.confidence, "accuracy": one.accuracy, "count": one.count}
        for one in calibration(some.probabilities, some.labels, BINS).bins
    ]


def _effects(smoothed: dict[str, Any], plain: dict[str, Any]) -> dict[str, Any]:
    """(ε = 0.1) − (ε = 0), seed by seed: below 0 means less sure and better calibrated."""
    return differences(smoothed, plain, MEASURES)


def verdicts(data: Data) -> dict[str, Verdict]:
    """The claim has two readings, which are the sides: over-confidence falls; confidence then matches accuracy.

    Over-confidence is mean confidence minus accuracy on unseen images; the ECE measures how far confidence is from
    accuracy. On each side the change from ε = 0 to ε = 0.1, seed by seed, is below 0 for few and for many training
    images. There is no margin: the claim names a direction.
    The readings were separated after a first result. The first rule required lower confidence and lower ECE together at
    each size, and its verdict was refuted.
    """
    over = {size: verdict_over_confidence(data["sizes"][size]) for size in SIZES}
    sides = {
        "over_confidence": {size: less(over[size]["change"]) for size in SIZES},
        "calibration": {size: less(data["effects"][size]["error"]) for size in SIZES},
    }
    measured: dict[str, Any] = {"few": data["images"]["few"], "many": data["images"]["many"]}
    for size in SIZES:
        plain, smoothed = data["sizes"][size]["e0"], data["sizes"][size]["e10"]
        for name in (*MEASURES, "accuracy"):
            measured[f"{name}_{size}_plain"] = plain[name]["mean"]
            measured[f"{name}_{size}_smoothed"] = smoothed[name]["mean"]
        measured[f"effect_{size}"] = data["effects"][size]["error"]
        measured[f"over_{size}"] = over[size]
    return {"smoothing-calibrates": Verdict.of(sides, measured)}


def verdict_over_confidence(size: Data) -> dict[str, Any]:
    """Mean confidence minus accuracy without smoothing and with ε = 0.1, and its change, seed by seed."""
    plain, smoothed = (difference(size[name]["confidence"], size[name]["accuracy"]) for name in ("e0", "e10"))
    return {
        "plain": plain["mean"],
        "smoothed": smoothed["mean"],
        "change": difference(smoothed, plain),
    }


LEAST = 10  # the fewest answers in a bin for which its accuracy means something


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Targets and errors above, two diagrams below."""
    figure = theme.figure(10, 7.4)
    places = figure.subplot_mosaic([["targets", "error"], ["few", "many"]], height_ratios=(2, 3))
    labels = {name: f"ε = {value:g}" for name, value in zip(data["targets"], data["smoothings"], strict=True)}
    classes = [str(k) for k in range(data["classes"])]
    targets = {labels[name]: values for name, values in data["targets"].items()}
    bars(places["targets"], theme, classes, targets, printed=False)
    places["targets"].set(title=words("targets", digit=data["target"]), xlabel=words("class"))
    _errors(places["error"], data, theme, words, labels)
    for size in ("few", "many"):
        _reliability(places[size], data["sizes"][size], theme, words, labels)
        places[size].set_title(words("reliability", n=data["images"][size]))
    return figure


def _errors(axes: Axes, data: Data, theme: Theme, words: PictureWords, labels: Mapping[str, str]) -> None:
    found = {labels[name]: [data["sizes"][size][name]["error"] for size in data["sizes"]] for name in labels}
    bars(axes, theme, [words("images", n=data["images"][size]) for size in data["sizes"]], found, form=".3f")
    axes.set_title(words("error"))
    axes.margins(y=0.15)
    axes.legend().set_visible(False)  # same colours as in the panel beside it


def _reliability(
    axes: Axes, sizes: Mapping[str, Any], theme: Theme, words: PictureWords, labels: Mapping[str, str]
) -> None:
    axes.plot([0, 1], [0, 1], color=theme.muted, linestyle=":", linewidth=1.2, label=words("perfect"))
    for number, (name, seen) in enumerate(sizes.items()):
        some = [one for one in seen["bins"] if one["count"] >= LEAST]
        colour, marker = theme.series[number], theme.markers[number]
        x, y = [one["confidence"] for one in some], [one["accuracy"] for one in some]
        axes.plot(x, y, color=colour, linestyle=theme.lines[number], label=labels[name])
        for one in some:
            (point,) = axes.plot([one["confidence"]], [one["accuracy"]], color=colour, marker=marker, linestyle="")
            hover(point, f"{labels[name]} · {one['confidence']:.2f}: {one['accuracy']:.2f} ({one['count']})")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1.03)
    axes.set(xlabel=words("confidence"), ylabel=words("accuracy"))
    axes.legend(loc="upper left", fontsize=8)


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("smoothing-calibrates",),
    equation=r"q_k=(1-\varepsilon)\,[k=y]+\frac{\varepsilon}{v},\qquad L=-\sum_k q_k\log p_k",
    formula="q_k = (1 − ε)·[k = y] + ε / v,   L = − Σ_k q_k log p_k",
    paper="§5.4",
    sources=("losses.py", "metrics/classification.py"),
    picture="label_smoothing_effect",
)
