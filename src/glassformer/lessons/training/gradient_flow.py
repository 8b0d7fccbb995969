"""Initialisation and gradients: the norm in every layer under Xavier, He and a fixed width, and the loss reached.

Claim xavier-not-he; the rule is in `verdicts`.
"""

from __future__ import annotations

from math import log10
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from glassformer.data.sampler import of_batch
from glassformer.lessons.experiment import CPU, Experiment
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.statistics import differences, interval
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.training.curves_picture import draw_curves, finer
from glassformer.lessons.training.letters import D_MODEL, curve, letters
from glassformer.lessons.verdict import Verdict, less
from glassformer.models.build import build
from glassformer.show.drawing import lines, logarithmic
from glassformer.show.theme import Theme
from glassformer.training.state import TrainingState

if TYPE_CHECKING:
    from matplotlib.figure import Figure


RULES = ("xavier", "he", "normal")
ORDERS = ("post", "pre")
LAYERS, STEPS, WARMUP = 6, 100, 30


def run(setup: LessonSetup) -> Data:
    """Six layers: the gradient of the first batch, layer by layer; then a short training from the same weights."""
    steps = setup.some(STEPS, 4)
    experiment = letters(setup, LAYERS, {"train.steps": steps, "train.warmup": min(WARMUP, steps)})
    places = [(order, rule) for order in ORDERS for rule in RULES]
    seen = {(order, rule): _look(setup, experiment, order, rule) for order, rule in setup.each("init", places)}
    return {
        "layers": LAYERS,
        "d_model": D_MODEL,
        "steps": steps,
        "warmup": experiment.material.config.train.warmup,
        "peak": experiment.material.config.train.peak,
        "orders": {order: {rule: seen[order, rule] for rule in RULES} for order in ORDERS},
        "effects": {order: _effects(seen[order, "xavier"], seen[order, "he"]) for order in ORDERS},
    }


def _look(setup: LessonSetup, experiment: Experiment, order: str, rule: str) -> dict[str, Any]:
    changes = {"model.norm_order": order, "model.init": rule}
    norms = [layer_gradients(experiment, changes, seed) for seed in setup.seeds]
    outcomes = [experiment.train(seed, changes) for seed in setup.seeds]
    spread = interval([log10(max(one) / min(one)) for one in norms])
    return {
        "gradient": [interval([log10(one[layer]) for one in norms]) for layer in range(LAYERS)],
        "spread": spread,
        "ratio": 10 ** spread["mean"],
        "loss": interval([outcome.validation["loss"] for outcome in outcomes]),
        "curve": curve([outcome.losses for outcome in outcomes]),
    }


def layer_gradients(experiment: Experiment, changes: dict[str, Any], seed: int) -> list[float]:
    """‖∂L/∂θ‖ of every block before the first step, on the first training batch."""
    config = experiment.config(changes, seed)
    model = build(config.model, seed=seed)
    trained = TrainingState.begin(config, model, experiment.material.task, experiment.material.training, CPU)
    groups, _ = trained.sampler.group(trained.progress.place)
    batches = [trained.task.collate([trained.store[i] for i in rows], of_batch(seed, at)) for at, rows in groups]
    trained.stepper.gradients(batches, sum(batch.count for batch in batches))
    blocks = model.get_submodule("decoder.blocks")
    return [_norm(block) for block in blocks.children()]


def _norm(block: nn.Module) -> float:
    return float(torch.stack([p.grad.norm() for p in block.parameters() if p.grad is not None]).norm())


def _effects(xavier: dict[str, Any], he: dict[str, Any]) -> dict[str, Any]:
    """Xavier − He, seed by seed: for both measures, below 0 favours Xavier."""
    return differences(xavier, he, ("spread", "loss"))


def verdicts(data: Data) -> dict[str, Verdict]:
    """ "Suits better" has two measures, each with norms before and after the sub-layers: the four sides.

    spread: log₁₀ of the largest over the smallest gradient norm of a layer at the start (0 is even); loss: validation
    loss after the steps. The claim is that Xavier − He is below 0.
    """
    sides = {f"{order}/{name}": less(data["effects"][order][name]) for order in ORDERS for name in ("spread", "loss")}
    measured: dict[str, Any] = {"steps": data["steps"]}
    for order in ORDERS:
        for name in ("spread", "loss"):
            measured[f"{name}_{order}"] = data["effects"][order][name]
        measured[f"loss_xavier_{order}"] = data["orders"][order]["xavier"]["loss"]["mean"]
        measured[f"loss_he_{order}"] = data["orders"][order]["he"]["loss"]["mean"]
        measured[f"ratio_xavier_{order}"] = data["orders"][order]["xavier"]["ratio"]
        measured[f"ratio_he_{order}"] = data["orders"][order]["he"]["ratio"]
    return {"xavier-not-he": Verdict.of(sides, measured)}


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Above: the gradient norm of each layer. Below: the loss. Post-norm left, pre-norm right."""
    figure = theme.figure(10, 6.6)
    panels = figure.subplots(2, 2, sharey="row")
    layers = list(range(1, data["layers"] + 1))
    for column, (order, rules) in enumerate(data["orders"].items()):
        above, below = panels[0][column], panels[1][column]
        lines(above, theme, layers, {words(rule): list(map(_norms, seen["gradient"])) for rule, seen in rules.items()})
        logarithmic(above)
        finer(above)
        above.set(title=words(f"gradient_{order}"), xlabel=words("layer"))
        draw_curves(below, theme, {words(rule): seen["curve"] for rule, seen in rules.items()})
        below.set(title=words(f"loss_{order}"), xlabel=words("step"))
        if column:
            above.legend().set_visible(False)
            below.legend().set_visible(False)
    panels[0][0].set_ylabel(words("norm"))
    panels[1][0].set_ylabel(words("loss"))
    return figure


def _norms(logarithm: Data) -> Data:
    """An interval of log₁₀ of a norm → of the norm."""
    return {end: 10 ** logarithm[end] for end in ("mean", "low", "high")}


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("xavier-not-he",),
    equation=r"g_\ell=\lVert\partial L/\partial\theta_\ell\rVert,\qquad spread=\max_\ell g_\ell\,/\,\min_\ell g_\ell",
    formula="g_ℓ = ‖∂L/∂θ_ℓ‖,   spread = max g_ℓ / min g_ℓ",
    sources=("models/initialize.py", "training/step.py"),
    picture="gradient_flow_initialization",
)
