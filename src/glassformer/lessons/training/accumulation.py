"""Gradient accumulation: do the gradients of k small batches add up to that of one big batch?

Claim accumulation; the rule is in `verdicts`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from glassformer.data.batch import Batch
from glassformer.data.examples import Example
from glassformer.lessons.experiment import CPU, Experiment
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.statistics import interval
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.verdict import Verdict, exact
from glassformer.models.build import build
from glassformer.show.drawing import lines, logarithmic
from glassformer.show.theme import Theme
from glassformer.training.meter import Meter
from glassformer.training.optimizer import make_optimizer
from glassformer.training.precision import LossScale
from glassformer.training.step import Stepper

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SMALL = {
    "data.source.count": 2000,
    "data.validation": 20,
    "text.vocab_size": 600,
    "model.d_model": 32,
    "model.d_ff": 64,
    "model.n_encoder_layers": 1,
    "model.n_decoder_layers": 1,
}
SENTENCES = 32
PARTS = (2, 4, 8, 16, 32)
# Sums of some thousand products in another order: 10⁴ roundings of float64.
TOLERANCE = 1e4 * float(torch.finfo(torch.float64).eps)


def run(setup: LessonSetup) -> Data:
    """A translator in float64, on sentences of many lengths and of one; new model and sentences for each seed."""
    experiment = Experiment("ko-en", SMALL)
    seen = {
        lengths: [_once(experiment, lengths, seed) for seed in setup.seeds]
        for lengths in setup.each("lengths", ("ragged", "equal"))
    }
    found = {
        lengths: {
            way: [interval([one[way][i] for one in each]) for i in range(len(PARTS))] for way in ("whole", "naive")
        }
        for lengths, each in seen.items()
    }
    counts = seen["ragged"][0]["counts"]
    return {
        "sentences": SENTENCES,
        "d_model": SMALL["model.d_model"],
        "parts": list(PARTS),
        "tolerance": TOLERANCE,
        "counts": counts,
        "fewest": min(counts),
        "most": max(counts),
        "found": found,
        "worst": {
            lengths: {way: max(one["high"] for one in ways[way]) for way in ways} for lengths, ways in found.items()
        },
    }


def _once(experiment: Experiment, lengths: str, seed: int) -> dict[str, Any]:
    """Relative errors for each number of parts, and the number of targets in each of four parts."""
    task, config = experiment.material.task, experiment.config({}, seed)
    model = build(config.model, seed=seed, dtype=torch.float64)
    stepper = Stepper(
        model=model,
        task=task,
        optimizer=make_optimizer(model, config.train),
        loss_scale=LossScale(config.train.precision, CPU),
        meter=Meter(CPU),
        device=CPU,
    )
    examples = _examples(experiment, lengths, seed)
    big = _gradient(stepper, [task.collate(examples)])
    errors: dict[str, Any] = {"whole": [], "naive": [], "counts": []}
    for parts in PARTS:
        batches = [task.collate(examples[i::parts]) for i in range(parts)]
        errors["whole"].append(error(_gradient(stepper, batches), big))
        means = [_gradient(stepper, [batch]) for batch in batches]
        errors["naive"].append(error(torch.stack(means).mean(0), big))
        if parts == 4:
            errors["counts"] = [batch.count for batch in batches]
    return errors


def _examples(experiment: Experiment, lengths: str, seed: int) -> list[Example]:
    """Training sentences, drawn anew for each seed; "equal": only those whose target has the most common length."""
    store = experiment.material.training
    order = torch.randperm(len(store), generator=torch.Generator().manual_seed(seed)).tolist()
    chosen = [store[i] for i in order]
    if lengths == "equal":
        usual, _ = Counter(len(target) for _, target in chosen).most_common(1)[0]
        chosen = [example for example in chosen if len(example[1]) == usual]
    return chosen[:SENTENCES]


def _gradient(stepper: Stepper, batches: Sequence[Batch]) -> Tensor:
    """The gradient of one step of the package, all parameters in one vector."""
    stepper.gradients(batches, sum(batch.count for batch in batches))
    return torch.cat([p.grad.flatten() for p in stepper.model.parameters() if p.grad is not None])


def error(found: Tensor, wanted: Tensor) -> float:
    return float((found - wanted).norm() / wanted.norm())


def verdicts(data: Data) -> dict[str, Verdict]:
    """Exact: the gradients differ by no more than float64's rounding in another order of summation (`tolerance`).

    The sides are two ways to divide: by the number of targets in the whole step, as the package does, and the mean of
    the small batches' means. Each must agree for every number of parts, kind of lengths and seed.
    """
    tolerance = data["tolerance"]
    worst = {
        lengths: {way: max(value for one in found for value in one["values"]) for way, found in ways.items()}
        for lengths, ways in data["found"].items()
    }  # over all seeds; `data["worst"]` has upper ends of intervals
    sides = {way: exact(all(worst[lengths][way] <= tolerance for lengths in worst)) for way in ("whole", "naive")}
    measured = {
        "whole": worst["ragged"]["whole"],
        "naive": data["found"]["ragged"]["naive"][1]["mean"],
        "equal": worst["equal"]["naive"],
        "parts": data["parts"][1],
        "tolerance": tolerance,
    }
    return {"accumulation": Verdict.of(sides, measured)}


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """One panel for sentences of many lengths, one for equal lengths."""
    figure = theme.figure(9, 4.2)
    panels = figure.subplots(1, 2, sharey=True)
    for axes, lengths in zip(panels, ("ragged", "equal"), strict=True):
        curves = {words(way): [one["mean"] for one in data["found"][lengths][way]] for way in ("whole", "naive")}
        lines(axes, theme, data["parts"], curves, form=".1e")
        axes.axhline(data["tolerance"], color=theme.muted, linewidth=1, linestyle=":")
        logarithmic(axes, "x", base=2)
        logarithmic(axes)
        axes.set_ylim(1e-17, 10)
        axes.set(title=words(lengths), xlabel=words("parts"))
        axes.get_legend().remove()
    panels[0].set_ylabel(words("error"))
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("accumulation",),
    equation=r"g=\frac{\nabla\sum_i L_i}{\sum_i n_i}\;\neq\;\frac{1}{k}\sum_i\frac{\nabla L_i}{n_i}",
    formula="g = ∇ Σ_i L_i / Σ_i n_i   ≠   (1/k) Σ_i ∇L_i / n_i",
    paper="§5.1",
    sources=("training/step.py", "losses.py"),
)
