"""Learning rates that go up and down again (Smith 2017), the first rise as warm-up; against cosine and constant.

Claim cyclic-escapes; the rule is in `verdicts`.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from glassformer.config.recipe import TrainConfig
from glassformer.data.examples import Examples
from glassformer.lessons.experiment import Experiment, Outcome
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.statistics import difference, interval
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.training.curves_picture import draw_curves
from glassformer.lessons.training.letters import D_MODEL, curve, letters
from glassformer.lessons.verdict import Verdict, less
from glassformer.show.drawing import bars, lines
from glassformer.show.theme import Theme
from glassformer.training.schedule import learning_rate

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SCHEDULES = ("cyclic", "cosine", "constant")
OTHERS = ("cosine", "constant")
PEAKS = (3e-3, 1e-2, 3e-2)
LAYERS = 2
CYCLES, WARMUP = 4, 16  # half a cycle is as long as the warm-up, so that the last cycle ends at its lowest rate
EXAMPLES = 48  # few enough to be seen ten times, so that training gets near a minimum
BETWEEN = (0.25, 0.5, 0.75)  # points on the line between the models at the ends of two cycles


def run(setup: LessonSetup) -> Data:
    """Three schedules at three peak rates, with the same steps, batches and initial weights."""
    warmup = setup.some(WARMUP, 2)
    steps = 2 * warmup * CYCLES
    experiment = letters(setup, LAYERS, {"train.steps": steps, "train.warmup": warmup})
    some = experiment.material.training.select(range(min(EXAMPLES, len(experiment.material.training))))
    places = [(kind, peak) for kind in SCHEDULES for peak in PEAKS]
    outcomes = {place: _train(setup, experiment, some, *place) for place in setup.each("schedule", places)}
    seen = {place: _look(experiment, some, trained) for place, trained in outcomes.items()}
    best = {kind: min(PEAKS, key=lambda peak: seen[kind, peak]["training"]["mean"]) for kind in SCHEDULES}
    chosen = {kind: seen[kind, best[kind]] for kind in SCHEDULES}
    shown = list(range(1, steps + 1, max(1, warmup // 4)))
    return {
        "steps": steps,
        "warmup": warmup,
        "layers": LAYERS,
        "d_model": D_MODEL,
        "examples": len(some),
        "peaks": list(PEAKS),
        "best": best,
        "shown": shown,
        "rates": {kind: _rates(kind, steps, warmup, shown) for kind in (*SCHEDULES, "triangular2")},
        "schedules": chosen,
        "ends": {kind: [seen[kind, peak]["training"] for peak in PEAKS] for kind in SCHEDULES},
        "effects": {other: difference(chosen["cyclic"]["training"], chosen[other]["training"]) for other in OTHERS},
        "barrier": interval([_barrier(experiment, some, one) for one in outcomes["cyclic", best["cyclic"]]]),
    }


def _train(setup: LessonSetup, experiment: Experiment, some: Examples, kind: str, peak: float) -> list[Outcome]:
    changes = {"train.schedule": kind, "train.learning_rate": peak}
    return [experiment.train(seed, changes, training=some) for seed in setup.seeds]


def _look(experiment: Experiment, some: Examples, outcomes: list[Outcome]) -> dict[str, Any]:
    return {
        "training": interval([_loss(experiment, one.model, one, some) for one in outcomes]),
        "validation": interval([one.validation["loss"] for one in outcomes]),
        "curve": curve([one.losses for one in outcomes]),
    }


def _loss(experiment: Experiment, model: nn.Module, outcome: Outcome, some: Examples) -> float:
    """The loss on all training examples."""
    return experiment.validate(model, outcome.config, some)["loss"]


def _barrier(experiment: Experiment, some: Examples, after: Outcome) -> float:
    """How far the loss on the straight line between the models after the last two cycles rises above its higher end.

    0: both are in one valley. Cycles do not depend on the total steps, so a shorter training gives the earlier model.
    """
    whole = after.config.train
    shorter: dict[str, Any] = {
        "train.schedule": whole.schedule.kind,
        "train.learning_rate": whole.peak,
        "train.steps": whole.steps - 2 * whole.warmup,
    }
    before = experiment.train(whole.seed, shorter, training=some, validated=False)
    ends = [_loss(experiment, one.model, one, some) for one in (before, after)]
    inner = [_loss(experiment, between(before.model, after.model, share), after, some) for share in BETWEEN]
    return max(0.0, max(inner) - max(ends))


@torch.no_grad()
def between(first: nn.Module, second: nn.Module, share: float) -> nn.Module:
    """The model whose weights are this share of the way from the first to the second."""
    made = deepcopy(first)
    for parameter, goal in zip(made.parameters(), second.parameters(), strict=True):
        parameter.lerp_(goal, share)
    return made


def _rates(kind: str, steps: int, warmup: int, shown: list[int]) -> list[float]:
    """Learning rates as shares of the peak."""
    chosen = {"kind": "cyclic", "mode": kind} if kind == "triangular2" else {"kind": kind}
    config = TrainConfig(schedule=chosen, steps=steps, warmup=warmup, learning_rate=1.0)  # type: ignore[arg-type]
    return [learning_rate(step, config, D_MODEL) for step in shown]


def verdicts(data: Data) -> dict[str, Verdict]:
    """A schedule that escapes bad minima ends lower, so the final loss on the training examples is judged.

    Steps and batches are the same for all. Each schedule has the best of three peak rates, by the mean of that loss:
    with one peak for all, the comparison would be of total movement, not of where it ends. The claim is that cyclic −
    other is below 0; the sides are the other schedules. Validation loss and barrier are shown but not judged.
    """
    measured: dict[str, Any] = {"steps": data["steps"], **data["effects"], "barrier": data["barrier"]}
    for kind, seen in data["schedules"].items():
        measured |= {f"training_{kind}": seen["training"]["mean"], f"validation_{kind}": seen["validation"]["mean"]}
        measured[f"peak_{kind}"] = data["best"][kind]
    return {"cyclic-escapes": Verdict.of({other: less(data["effects"][other]) for other in OTHERS}, measured)}


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Three panels; each schedule keeps its colour."""
    figure = theme.figure(10, 6.6)
    places = figure.subplot_mosaic([["rate", "rate"], ["loss", "end"]], height_ratios=(2, 3))
    lines(places["rate"], theme, data["shown"], {words(kind): rates for kind, rates in data["rates"].items()})
    places["rate"].set(title=words("rate"), xlabel=words("step"))
    places["rate"].set_ylim(0, 1.4)
    places["rate"].set_yticks([0, 0.5, 1])
    places["rate"].legend(ncol=4, loc="upper right", fontsize=8)
    best = {words("at", name=words(kind), peak=f"{data['best'][kind]:g}"): kind for kind in data["schedules"]}
    draw_curves(places["loss"], theme, {label: data["schedules"][kind]["curve"] for label, kind in best.items()})
    places["loss"].set(title=words("loss"), xlabel=words("step"))
    ends = {words(kind): ends for kind, ends in data["ends"].items()}
    bars(places["end"], theme, [f"{peak:g}" for peak in data["peaks"]], ends, form=".2f")
    places["end"].set(title=words("end"), xlabel=words("peak"))
    places["end"].margins(y=0.12)
    places["end"].legend().set_visible(False)  # same colours as in the other panels
    return figure


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("cyclic-escapes",),
    equation=r"rate(t)=low+(peak-low)\left(1-\left|\tfrac{t-1}{h}-2c-1\right|\right),\;c=\lfloor\tfrac{t-1}{2h}\rfloor",
    formula="rate(t) = low + (peak − low) · (1 − |(t−1)/h − 2c − 1|),   c = ⌊(t−1) / 2h⌋",
    sources=("training/schedule.py",),
    picture="cyclic_lr_warmup",
)
