"""Stochastic depth (Huang et al. 2016): whole sub-layers are left out at random while training; does it regularise?

Claim stochastic-depth; the rule is in `verdicts`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from glassformer.layers.residual import StochasticDepth
from glassformer.lessons.experiment import Experiment
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.statistics import difference, interval
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.verdict import Verdict, less
from glassformer.show.drawing import bars, lines
from glassformer.show.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


LAYERS = 6
HIGHEST = 0.5  # the rate of the last layer, as in Huang et al.
STEPS = 200
FEW = 100  # images: memorised within these steps
DRAWS = 20_000
RECIPE: dict[str, Any] = {
    "data.validation": 400,
    "task.crop": 0,
    "task.erase": 0.0,
    "task.mixup": 0.0,
    "model.d_model": 32,
    "model.d_ff": 64,
    "model.n_encoder_layers": LAYERS,
    "train.batch_tokens": 160,
    "train.warmup": 20,
    "train.ema": 0.0,
    "train.average": 0,
}
RATES = {"without": 0.0, "with": HIGHEST}


def run(setup: LessonSetup) -> Data:
    """Few and all of the handwritten digits, the same steps; no other regulariser than weight decay."""
    experiment = Experiment("digits", {**RECIPE, "train.steps": setup.some(STEPS)})
    whole = experiment.material.training
    stores = {"few": whole.select(range(FEW)), "all": whole}
    jobs = [(seed, size, kind) for seed in setup.seeds for size in stores for kind in RATES]
    losses: dict[str, dict[str, dict[str, list[float]]]] = {
        size: {kind: {"train": [], "validation": [], "accuracy": []} for kind in RATES} for size in stores
    }
    for seed, size, kind in setup.each("training", jobs):
        ended = experiment.train(seed, {"model.stochastic_depth": RATES[kind]}, training=stores[size])
        found = losses[size][kind]
        found["train"].append(experiment.validate(ended.model, ended.config, stores[size])["loss"])
        found["validation"].append(ended.validation["loss"])
        found["accuracy"].append(ended.validation["accuracy"])
    return {
        "layers": LAYERS,
        "highest": HIGHEST,
        "steps": STEPS,
        "images": {size: len(store) for size, store in stores.items()},
        "schedule": schedule(),
        **{size: _compared(found) for size, found in losses.items()},
    }


def schedule() -> list[dict[str, float]]:
    """The rate of each layer, the share of draws that are kept, and their mean output for an input of 1."""
    rows = []
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        for layer, rate in enumerate(StochasticDepth.rates(HIGHEST, LAYERS)):
            drawn = StochasticDepth(rate).train()(torch.ones(DRAWS, 1, 1, dtype=torch.float64))  # b 1 1
            kept, mean = float((drawn > 0).double().mean()), float(drawn.mean())
            rows.append({"layer": layer + 1, "survival": 1 - rate, "kept": kept, "mean": mean})
    return rows


def _compared(found: dict[str, dict[str, list[float]]]) -> dict[str, Any]:
    """Both variants with intervals; the effect is with − without, seed by seed."""
    gaps = {
        kind: [late - early for late, early in zip(values["validation"], values["train"], strict=True)]
        for kind, values in found.items()
    }
    return {
        **{
            kind: {**{name: interval(numbers) for name, numbers in values.items()}, "gap": interval(gaps[kind])}
            for kind, values in found.items()
        },
        "gap_change": difference(gaps["with"], gaps["without"]),
        "validation_change": difference(found["with"]["validation"], found["without"]["validation"]),
        "train_change": difference(found["with"]["train"], found["without"]["train"]),
    }


def verdicts(data: Data) -> dict[str, Verdict]:
    """To regularise is to fit the training data less and new data better: with it, the gap between validation and
    training loss is smaller and the validation loss is lower (paired changes).

    A smaller gap alone may be mere under-fitting, hence both. The sides are few images and all of them.
    """
    sides = {
        size: {"gap": less(data[size]["gap_change"]), "validation": less(data[size]["validation_change"])}
        for size in ("few", "all")
    }
    measured = {
        "highest": data["highest"],
        **{size: {"images": data["images"][size], **data[size]} for size in ("few", "all")},
    }
    return {"stochastic-depth": Verdict.of(sides, measured)}


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Three panels: the schedule, few images, all images."""
    figure = theme.figure(10, 4)
    survival, few, whole = figure.subplots(1, 3)
    rows = data["schedule"]
    curves = {words("survival"): [row["survival"] for row in rows], words("kept"): [row["kept"] for row in rows]}
    lines(survival, theme, [row["layer"] for row in rows], curves)
    survival.set_ylim(0, 1.05)
    survival.yaxis.set_major_formatter(lambda y, _: f"{y:.0%}")
    survival.legend(loc="lower left")
    survival.set(title=words("schedule"), xlabel=words("layer"))
    _losses(few, theme, words, data["few"])
    few.set(title=words("few", n=f"{data['images']['few']:,}"), ylabel=words("loss"))
    _losses(whole, theme, words, data["all"])
    whole.set_title(words("all", n=f"{data['images']['all']:,}"))
    handles, labels = few.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower right", ncols=2)
    return figure


def _losses(axes: Axes, theme: Theme, words: PictureWords, found: dict[str, Any]) -> None:
    kinds, splits = ("without", "with"), ("train", "validation")
    groups = {words(kind): [found[kind][split] for split in splits] for kind in kinds}
    bars(axes, theme, [words(split) for split in splits], groups, form=".2f")
    if (legend := axes.get_legend()) is not None:  # both panels share one below
        legend.remove()
    axes.margins(y=0.15)
    axes.set_ylim(bottom=0)


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("stochastic-depth",),
    equation=r"x_{l+1}=x_l+\frac{B_l}{1-r_l}\,f(x_l),\quad B_l\sim\mathrm{Bernoulli}(1-r_l),\quad "
    r"r_l=r\,\frac{l-1}{L-1}",
    formula="x_(l+1) = x_l + f(x_l) · B_l / (1 − r_l),   B_l ~ Bernoulli(1 − r_l),   r_l = r (l − 1)/(L − 1)",
    paper="not in it; Huang et al. 2016",
    sources=("layers/residual.py", "models/stack.py"),
)
