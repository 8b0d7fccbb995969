"""Focal loss (Lin et al. 2017): the weight of easy and hard examples, and what rare classes gain.

Claim focal-hard; the rule is in `verdicts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from glassformer.data.examples import Arrays
from glassformer.lessons.experiment import Experiment
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.statistics import difference, interval
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.training.few_digits import digits, held_out_answers, training_images
from glassformer.lessons.verdict import Verdict, exact, greater
from glassformer.losses import cross_entropy, focal
from glassformer.show.drawing import bars, lines
from glassformer.show.theme import Theme
from glassformer.tasks.image_classification.task import ImageClassification

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


GAMMAS = (0.0, 2.0, 5.0)
PAPER = 2.0  # the best γ according to its authors
RARE, LEFT = (3, 8), 8  # two digits that look alike, and the number of images kept of each
HARD = 0.5  # hard: the probability of the right class is below this
PROBABILITIES = [round(0.02 * n, 2) for n in range(1, 50)]
EASY_AT, HARD_AT = PROBABILITIES.index(0.9), PROBABILITIES.index(0.1)


def run(setup: LessonSetup) -> Data:
    """The factor by itself; the gradient of a half-trained model; whole trainings with each γ."""
    experiments = {gamma: digits(setup, {"kind": "focal", "gamma": gamma}) for gamma in GAMMAS}
    plain = experiments[0.0]
    held_out = plain.material.validation
    assert held_out is not None
    sets = {seed: _imbalanced(training_images(plain), seed) for seed in setup.seeds}
    half = [_half_trained(plain, seed, images) for seed, images in setup.each("half", sets.items())]
    shares = {_name(gamma): [_share(plain, model, images, gamma) for model, images in half] for gamma in GAMMAS}
    recalls = {_name(gamma): _recalls(experiments[gamma], sets) for gamma in setup.each("gamma", GAMMAS)}
    judged, without = _name(PAPER), _name(0.0)
    weights = {_name(gamma): factors(gamma) for gamma in GAMMAS}
    return {
        "gammas": list(GAMMAS),
        "rare": list(RARE),
        "left": LEFT,
        "common": (len(next(iter(sets.values()))) - LEFT * len(RARE)) // (10 - len(RARE)),
        "held_out": len(held_out),
        "steps": plain.material.config.train.steps,
        "probabilities": PROBABILITIES,
        "factors": weights,
        "keeps": {"easy": weights[judged][EASY_AT], "hard": weights[judged][HARD_AT]},
        "shares": {
            name: {of: interval([one[of] for one in some]) for of in ("hard", "rare")} for name, some in shares.items()
        },
        "recalls": recalls,
        "effects": {
            "share": difference([one["hard"] for one in shares[judged]], [one["hard"] for one in shares[without]]),
            "recall": difference(recalls[judged]["rare"], recalls[without]["rare"]),
            "common": difference(recalls[judged]["common"], recalls[without]["common"]),
        },
    }


def _name(gamma: float) -> str:
    return f"g{gamma:g}"


def factors(gamma: float) -> list[float]:
    """Focal loss ÷ cross-entropy for two classes, by the probability p of the right one."""
    p = torch.tensor(PROBABILITIES, dtype=torch.float64)
    logits = torch.stack((p.log(), (1 - p).log()), dim=-1)  # n 2
    right = torch.tensor([0])
    pairs = [(focal(row[None], right, gamma=gamma), cross_entropy(row[None], right)) for row in logits]
    return [float(weighted.total / whole.total) for weighted, whole in pairs]


def _imbalanced(images: Arrays, seed: int) -> Arrays:
    """All images of the common digits, a few of the rare ones, chosen by the seed."""
    labels = np.asarray(images.fields["label"])
    order = np.random.default_rng(seed).permutation(len(labels))
    kept = [some[:LEFT] if k in RARE else some for k in range(10) if len(some := order[labels[order] == k])]
    return images.select(np.sort(np.concatenate(kept)))


def _half_trained(experiment: Experiment, seed: int, images: Arrays) -> tuple[nn.Module, Arrays]:
    """A model after a fifth of the steps with cross-entropy: some images are easy by then, others not yet."""
    steps = max(1, experiment.material.config.train.steps // 5)
    return experiment.train(seed, {"train.steps": steps}, training=images, validated=False).model, images


def _share(experiment: Experiment, model: nn.Module, images: Arrays, gamma: float) -> dict[str, float]:
    """The share of the gradient at the logits, Σ ‖∂L/∂z‖, that comes from hard images, and from rare digits."""
    task = experiment.material.task
    assert isinstance(task, ImageClassification)
    batch = task.collate([images[i] for i in range(len(images))])
    with torch.no_grad():
        logits = task.logits(model, batch).double()  # b classes
    logits.requires_grad_()
    focal(logits, batch.targets, gamma=gamma).total.backward()
    assert logits.grad is not None
    pull = logits.grad.norm(dim=-1)  # b
    p = logits.detach().softmax(-1).gather(1, batch.targets[:, None])[:, 0]  # b
    rare = torch.isin(batch.targets, torch.tensor(RARE))
    return {"hard": _part(pull, p < HARD), "rare": _part(pull, rare), "hard_images": float((p < HARD).double().mean())}


def _part(pull: Tensor, of: Tensor) -> float:
    return float(pull[of].sum() / pull.sum())


def _recalls(experiment: Experiment, sets: dict[int, Arrays]) -> dict[str, Any]:
    found = [
        held_out_answers(experiment, experiment.train(seed, training=images, validated=False).model)
        for seed, images in sets.items()
    ]
    rare = [np.isin(one.labels, RARE) for one in found]
    return {
        "rare": interval([one.right(of) for one, of in zip(found, rare, strict=True)]),
        "common": interval([one.right(~of) for one, of in zip(found, rare, strict=True)]),
    }


def verdicts(data: Data) -> dict[str, Verdict]:
    """The claim has two readings, which are the sides: weight shifts to hard examples, and rare classes gain.

    weight: the factor falls at every step of p for γ = 2, and in a half-trained model the gradient share of hard images
    (p < ½) is larger with γ = 2 than without. rare: the recall of the rare digits after a whole training is higher.
    """
    factor = data["factors"][_name(PAPER)]
    falls = all(later < earlier for earlier, later in pairwise(factor))
    sides = {
        "weight": {"factor": exact(falls), "share": greater(data["effects"]["share"])},
        "rare": greater(data["effects"]["recall"]),
    }
    measured = {
        "gamma": PAPER,
        "easy": data["keeps"]["easy"],
        "hard": data["keeps"]["hard"],
        "share_plain": data["shares"][_name(0.0)]["hard"]["mean"],
        "share_focal": data["shares"][_name(PAPER)]["hard"]["mean"],
        "recall_plain": data["recalls"][_name(0.0)]["rare"]["mean"],
        "recall_focal": data["recalls"][_name(PAPER)]["rare"]["mean"],
        "recall": data["effects"]["recall"],
    }
    return {"focal-hard": Verdict.of(sides, measured)}


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Three panels, the same colours for the same γ."""
    figure = theme.figure(10, 4.2)
    first, second, third = figure.subplots(1, 3)
    labels = {name: f"γ = {gamma:g}" for name, gamma in zip(data["factors"], data["gammas"], strict=True)}
    lines(first, theme, data["probabilities"], {labels[name]: values for name, values in data["factors"].items()})
    first.set(title=words("factor"), xlabel=words("probability"))
    _bars(second, theme, words, {labels[name]: one for name, one in data["shares"].items()}, ("hard", "rare"))
    second.set_title(words("shares"))
    third_bars = {labels[name]: one for name, one in data["recalls"].items()}
    _bars(third, theme, words, third_bars, ("rare", "common"))
    third.set_title(words("recalls"))
    return figure


def _bars(axes: Axes, theme: Theme, words: PictureWords, of: Mapping[str, Any], names: tuple[str, str]) -> None:
    groups = {label: [one[name] for name in names] for label, one in of.items()}
    bars(axes, theme, [words(name) for name in names], groups, form=".2f")
    axes.set_ylim(0, 1.2)
    axes.legend().set_visible(False)


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("focal-hard",),
    equation=r"L=-(1-p)^{\gamma}\log p",
    formula="L = − (1 − p)^γ · log p",
    sources=("losses.py",),
    picture="focal_loss_weights",
)
