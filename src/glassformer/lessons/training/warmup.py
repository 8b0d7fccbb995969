"""Short trainings with several warm-up lengths, in post-norm and pre-norm order.

Claim warmup-stabilises; the rule is in `verdicts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import log
from statistics import fmean
from typing import TYPE_CHECKING, Any

from glassformer.lessons.experiment import Experiment
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.statistics import differences, interval
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.training.curves_picture import draw_curves, finer
from glassformer.lessons.training.letters import D_MODEL, curve, letters
from glassformer.lessons.verdict import Verdict, less
from glassformer.show.drawing import logarithmic
from glassformer.show.theme import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure


ORDERS = ("post", "pre")
LENGTHS = (0, 10, 30, 60)
JUDGED = 30  # steps: a quarter of the training, compared with no warm-up
LAYERS, STEPS = 6, 120
MEASURES = ("loss", "jumps")


def run(setup: LessonSetup) -> Data:
    """Linear warm-up to 3e-3, then constant; six layers, no clipping."""
    steps = setup.some(STEPS, 6)
    experiment = letters(setup, LAYERS, {"train.steps": steps})
    places = [(order, length) for order in ORDERS for length in LENGTHS]
    seen = {place: _look(setup, experiment, *place) for place in setup.each("warmup", places)}
    return {
        "steps": steps,
        "layers": LAYERS,
        "d_model": D_MODEL,
        "peak": experiment.material.config.train.peak,
        "lengths": list(LENGTHS),
        "judged": JUDGED,
        "orders": {order: {str(length): seen[order, length] for length in LENGTHS} for order in ORDERS},
        "effects": {order: _effects(seen[order, JUDGED], seen[order, 0]) for order in ORDERS},
    }


def _look(setup: LessonSetup, experiment: Experiment, order: str, length: int) -> dict[str, Any]:
    changes = {"model.norm_order": order, "train.warmup": length}
    outcomes = [experiment.train(seed, changes) for seed in setup.seeds]
    return {
        "loss": interval([outcome.validation["loss"] for outcome in outcomes]),
        "jumps": interval([jumps(outcome.gradient_norms) for outcome in outcomes]),
        "diverged": sum(outcome.diverged for outcome in outcomes),
        "losses": curve([outcome.losses for outcome in outcomes]),
        "gradients": curve([outcome.gradient_norms for outcome in outcomes]),
    }


def jumps(norms: Sequence[float]) -> float:
    """mean |ln g_t − ln g_{t−1}|: by what factor the gradient changes from one step to the next, as a logarithm.

    The norm itself would mislead: it is large at every start, and with warm-up a model stays there longer.
    """
    return fmean(abs(log(after / before)) for before, after in pairwise(norms))


def _effects(with_it: dict[str, Any], without: dict[str, Any]) -> dict[str, Any]:
    """With − without, seed by seed: below 0 favours warm-up."""
    return differences(with_it, without, MEASURES)


def verdicts(data: Data) -> dict[str, Verdict]:
    """ "Stabilises early training" has two measures, each with norms before and after the sub-layers: four sides.

    loss: validation loss after the steps; jumps: how much the gradient norm jumps between neighbouring steps. A warm-up
    of a quarter of the steps, chosen before the first result, is compared with none. The claim is that with − without
    is below 0.
    """
    sides = {f"{order}/{name}": less(data["effects"][order][name]) for order in ORDERS for name in MEASURES}
    measured: dict[str, Any] = {"judged": data["judged"], "steps": data["steps"]}
    for order in ORDERS:
        for name in MEASURES:
            measured[f"{name}_{order}"] = data["effects"][order][name]
            measured[f"{name}_{order}_with"] = data["orders"][order][str(data["judged"])][name]["mean"]
            measured[f"{name}_{order}_without"] = data["orders"][order]["0"][name]["mean"]
    return {"warmup-stabilises": Verdict.of(sides, measured)}


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Above: the loss. Below: the gradient norm. Post-norm left, pre-norm right."""
    figure = theme.figure(10, 6.6)
    panels = figure.subplots(2, 2, sharey="row")
    for column, (order, lengths) in enumerate(data["orders"].items()):
        for row, kind in enumerate(("losses", "gradients")):
            axes = panels[row][column]
            draw_curves(axes, theme, {words("length", n=length): seen[kind] for length, seen in lengths.items()})
            axes.set(title=words(f"{kind}_{order}"), xlabel=words("step"))
            if row or column:
                axes.legend().set_visible(False)
        logarithmic(panels[1][column])
        finer(panels[1][column])
    panels[0][0].set_ylabel(words("loss"))
    panels[1][0].set_ylabel(words("norm"))
    return figure


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("warmup-stabilises",),
    equation=r"\mathrm{rate}(t)=\mathrm{peak}\cdot\min\left(1,\frac{t}{\mathrm{warmup}}\right)",
    formula="rate(t) = peak · min(1, t / warmup)",
    paper="§5.3",
    sources=("training/schedule.py", "layers/residual.py"),
    picture="warmup_comparison",
)
