"""One vector for a whole text: [CLS], [SEP], mean or maximum, each trained from the beginning on the same task.

Claim cls-not-sep; the rule is in `verdicts`.
"""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from glassformer.lessons.experiment import Experiment
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.statistics import difference, interval, share
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.verdict import Verdict, greater
from glassformer.show.drawing import hover
from glassformer.show.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


POOLS = ("cls", "sep", "mean", "max")
JUDGED = ("cls", "sep")
BESIDE = 5  # seeds for mean and maximum, which are not judged
SENTENCES, VALIDATION = 1500, 1000
STEPS = 100
SMALL = {"d_model": 32, "d_ff": 128, "n_heads": 4, "n_encoder_layers": 2}


def run(setup: LessonSetup) -> Data:
    """The recipe `sentiment`, smaller; for one seed only the pooling differs."""
    learned, unseen = setup.some(SENTENCES, 1000), setup.some(VALIDATION, 40)
    changes = {"data.source.count": learned + unseen, "data.validation": 40}  # no duplicates
    steps = {"train.steps": setup.some(STEPS, 2), "train.warmup": setup.some(30), "train.ema": 0.0}
    sizes = {f"model.{key}": value for key, value in SMALL.items()}
    experiment = Experiment("sentiment", {**changes, "text.vocab_size": 800, **sizes, **steps})
    order = np.random.default_rng(0).permutation(learned + unseen)
    store = experiment.material.training
    parts = store.select(order[:learned]), store.select(order[learned:])
    accuracy: dict[str, list[float]] = {how: [] for how in POOLS}
    loss: dict[str, list[float]] = {how: [] for how in POOLS}
    for seed in setup.each("pooling", setup.seeds):
        for how in POOLS if len(accuracy["max"]) < BESIDE else JUDGED:
            made = experiment.train(seed, {"model.head": _head(experiment, how)}, training=parts[0], validated=False)
            found = experiment.validate(made.model, made.config, parts[1])
            accuracy[how].append(found["accuracy"])
            loss[how].append(found["loss"])
    return {
        "sentences": learned,
        "unseen": unseen,
        "steps": steps["train.steps"],
        "seeds": len(setup.seeds),
        "accuracy": {how: share(accuracy[how]) for how in POOLS},
        "loss": {how: interval(loss[how]) for how in POOLS},
        "cls_minus": {how: difference(accuracy["cls"][: len(accuracy[how])], accuracy[how]) for how in POOLS[1:]},
        "best": max(POOLS, key=lambda how: fmean(accuracy[how])),
    }


def _head(experiment: Experiment, how: str) -> dict[str, Any]:
    head = experiment.material.config.model.head
    return {"kind": head.kind, **head.options, "pool": how}


def verdicts(data: Data) -> dict[str, Verdict]:
    """The claim prefers [CLS] to [SEP]: accuracy(cls) − accuracy(sep), seed by seed, is above 0.

    Mean and maximum are shown but not judged.
    """
    effect = data["cls_minus"]["sep"]
    measured = {
        **{how: data["accuracy"][how]["mean"] for how in POOLS},
        "difference": effect,
        "mean_difference": data["cls_minus"]["mean"],
        "max_difference": data["cls_minus"]["max"],
        "seeds": data["seeds"],
    }
    return {"cls-not-sep": Verdict.of(greater(effect), measured)}


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Accuracies on the left, differences on the right."""
    from matplotlib.ticker import MultipleLocator

    figure = theme.figure(10, 4)
    left, right = figure.subplots(1, 2)
    for place, how in enumerate(POOLS):
        _accuracy(left, place, words(how), data["accuracy"][how], theme)
    left.set_xticks(range(len(POOLS)), [words(how) for how in POOLS])
    left.set_xlim(-0.6, len(POOLS) - 0.4)
    lowest = min(min(one["values"]) for one in data["accuracy"].values())
    left.set_ylim(max(0.0, lowest - 0.05), 1.0)
    left.yaxis.set_major_locator(MultipleLocator(0.05))  # a tick at 92.5 % would be rounded to 92 %
    left.yaxis.set_major_formatter("{x:.0%}")
    left.set_title(words("accuracy", unseen=f"{data['unseen']:,}"))
    _differences(right, data, theme, words)
    return figure


def _accuracy(axes: Axes, place: int, name: str, found: Data, theme: Theme) -> None:
    """A point for each seed, the mean and its interval; no bar, because the axis does not begin at 0."""
    colour = theme.series[place % 6]
    for value in found["values"]:
        axes.plot([place - 0.16], [value], marker="o", markersize=4, color=colour, alpha=0.55, linestyle="")
    (line,) = axes.plot([place, place], [found["low"], min(1.0, found["high"])], color=colour, linewidth=3)
    hover(line, f"{name}: {found['low']:.1%} … {found['high']:.1%}")
    axes.plot([place], [found["mean"]], marker="D", markersize=7, color=colour)
    axes.annotate(f"{found['mean']:.1%}", (place, found["mean"]), (9, 0), textcoords="offset points", va="center")


def _differences(axes: Axes, data: Data, theme: Theme, words: PictureWords) -> None:
    """A point for each seed, the mean and its interval; to the right of the line [CLS] is better."""
    others = POOLS[1:]
    for row, how in enumerate(others):
        effect, colour = data["cls_minus"][how], theme.series[row + 1]
        for value in effect["values"]:
            axes.plot([value], [row - 0.18], marker="o", markersize=4, color=colour, alpha=0.55, linestyle="")
        (line,) = axes.plot([effect["low"], effect["high"]], [row, row], color=colour, linewidth=3)
        hover(line, f"{words(how)}: {effect['low']:+.2%} … {effect['high']:+.2%}")
        axes.plot([effect["mean"]], [row], marker="D", markersize=7, color=colour)
        axes.annotate(
            f"{effect['mean']:+.2%}", (effect["mean"], row), (0, -14), textcoords="offset points", ha="center"
        )
    axes.axvline(0, color=theme.ink, linewidth=1)
    axes.set_yticks(range(len(others)), [words("minus", other=words(how)) for how in others])
    axes.set_ylim(len(others) - 0.4, -0.6)
    axes.xaxis.set_major_formatter("{x:+.0%}")
    axes.set_title(words("differences"))


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("cls-not-sep",),
    seeds=40,  # with 5 and with 30 the claim stayed undecided
    equation=r"\hat y=\mathrm{softmax}\big(W\,\mathrm{pool}(x_1,\dots,x_T)+b\big)",
    formula="ŷ = softmax(W pool(x₁ … x_T) + b)",
    sources=("layers/head/pooling.py", "layers/head/classifier.py", "recipes/sentiment.toml"),
)
