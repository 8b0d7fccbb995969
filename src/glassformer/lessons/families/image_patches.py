"""An image as a sequence of patches, as in ViT: where attention looks, and what is lost without each patch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from glassformer.decoding.step import evaluating
from glassformer.lessons.experiment import Experiment, Outcome
from glassformer.lessons.lesson import Data, Lesson, no_verdicts
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.statistics import interval
from glassformer.lessons.texts import PictureWords
from glassformer.show.drawing import colour_bar, heat, pixels
from glassformer.show.theme import Theme
from glassformer.tasks.image_classification.task import ImageClassification, corpus_of
from glassformer.trace.record import record
from glassformer.trace.rollout import rollout

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


SHOWN = (0, 3, 4, 7, 8)  # one image of each of these digits
STEPS = 1200
# 4 × 4 patches of 2 × 2 pixels: the recipe's four patches would show nothing on a map
FINER = {"model.input.patch": 2, "model.max_len": 17, "train.batch_tokens": 17 * 64}


def run(setup: LessonSetup) -> Data:
    """The recipe `digits` with finer patches; on its test part roll-out, and the effect of leaving each patch out."""
    experiment = Experiment("digits", {**FINER, "train.steps": setup.some(STEPS, 4)})
    task = experiment.material.task
    assert isinstance(task, ImageClassification)
    outcome = experiment.train(setup.seeds[0], validated=False)
    pictures = corpus_of(outcome.config).split("test")["test"]
    store = task.encode(pictures, outcome.config)
    batch = task.collate([store[i] for i in range(len(store))])
    patch = int(outcome.config.model.input.options["patch"])
    maps, tokens = _rollout(outcome, batch.inputs)  # n rows columns
    drops = _without(outcome, batch.inputs, batch.targets, patch)  # n rows columns
    ink = torch.from_numpy(pictures.pixels[:, 0] / 255).unfold(1, patch, patch).unfold(2, patch, patch).mean((-1, -2))
    labels = batch.targets.tolist()
    return {
        "images": len(labels),
        "accuracy": _accuracy(outcome, batch.inputs, batch.targets),
        "steps": outcome.config.train.steps,
        "size": pictures.pixels.shape[-1],
        "patch": patch,
        "patches": int(maps[0].numel()),
        "tokens": tokens,
        "examples": [
            _example(labels.index(digit), pictures.pixels, maps, drops, digit) for digit in SHOWN if digit in labels
        ],
        "left": interval(_share_left(maps)),
        "rollout_drop": _agreement(maps, drops),
        "ink_drop": _agreement(ink, drops),
        "mean_map": maps.mean(0).tolist(),
        "mean_drop": drops.mean(0).tolist(),
    }


@torch.no_grad()
def _accuracy(outcome: Outcome, images: Tensor, labels: Tensor) -> float:
    with evaluating(outcome.model):
        return float((outcome.model(images).argmax(-1) == labels).double().mean())


@torch.no_grad()
def _rollout(outcome: Outcome, images: Tensor) -> tuple[Tensor, int]:
    """A map for each image, and how many tokens the encoder sees."""
    with evaluating(outcome.model), record(outcome.model, "*.weights") as trace:
        outcome.model(images)
    head, options = outcome.config.model.head.options, outcome.config.model.input.options
    found = rollout(trace, class_tokens=int(options.get("class_tokens", 1)), pool=str(head.get("pool", "cls")))
    return found, trace.attention()[0].shape[-1]


@torch.no_grad()
def _without(outcome: Outcome, images: Tensor, labels: Tensor, patch: int) -> Tensor:
    """How much ln p(right class) falls when a patch is replaced by the mean pixel (0 after scaling), n rows columns."""

    def right(some: Tensor) -> Tensor:
        scores: Tensor = outcome.model(some).double().log_softmax(-1)
        return scores.gather(1, labels[:, None])[:, 0]  # n

    side = images.shape[-1] // patch
    with evaluating(outcome.model):
        before = right(images)
        drops = []
        for place in range(side * side):
            row, column = divmod(place, side)
            changed = images.clone()
            changed[:, :, row * patch : (row + 1) * patch, column * patch : (column + 1) * patch] = 0
            drops.append(before - right(changed))
    return torch.stack(drops, 1).unflatten(1, (side, side))


def _example(i: int, pixels: Any, maps: Tensor, drops: Tensor, digit: int) -> dict[str, Any]:
    return {
        "label": digit,
        "pixels": (pixels[i, 0] / 255).round(3).tolist(),
        "rollout": maps[i].tolist(),
        "drop": drops[i].tolist(),
    }


def _share_left(maps: Tensor) -> list[float]:
    """The share of the class vector from patches (the rest is the class token), for each fifth of the images."""
    return [float(part.mean()) for part in maps.sum((1, 2)).tensor_split(5)]


def _agreement(first: Tensor, second: Tensor) -> dict[str, Any]:
    """Over all images: the correlation of two maps within an image, and how often their largest patch is the same."""
    a, b = (x.flatten(1).double().numpy() for x in (first, second))
    a, b = a - a.mean(1, keepdims=True), b - b.mean(1, keepdims=True)
    below = np.sqrt((a**2).sum(1) * (b**2).sum(1))
    kept = below > 0
    within = (a * b).sum(1)[kept] / below[kept]
    return {
        "correlation": interval([float(part.mean()) for part in np.array_split(within, 10) if len(part)]),
        "same": float((a.argmax(1) == b.argmax(1)).mean()),
    }


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """A column for each digit, three rows: its patches, the roll-out over them, and what is lost without each patch."""
    figure = theme.figure(10, 6.6)
    examples = data["examples"]
    panels = figure.subplots(3, len(examples), squeeze=False)
    for column, one in enumerate(examples):
        pixels(panels[0][column], theme, one["pixels"])
        _grid(panels[0][column], data["size"], data["patch"], theme)
        panels[0][column].set_title(str(one["label"]), loc="center")
    for row, (name, form) in enumerate((("rollout", ".1%"), ("drop", ".2f")), 1):
        values = [abs(value) for one in examples for line in one[name] for value in line]
        least = min(0.0, *(value for one in examples for line in one[name] for value in line))
        most = max(values) or 1.0
        for axes, one in zip(panels[row], examples, strict=True):
            _overlay(axes, theme, one, name, form, most, data)
        colour_bar(list(panels[row]), theme, most, least=-most if least < 0 else 0.0, label=words(f"{name}_unit"))
    for row, name in enumerate(("image", "rollout", "drop")):
        panels[row][0].set_ylabel(words(name))
    return figure


def _overlay(axes: Axes, theme: Theme, one: Data, name: str, form: str, most: float, data: Data) -> None:
    """A map of patches with the digit drawn pale on top; its pixels are `patch` times finer."""
    from matplotlib.patches import Rectangle

    heat(axes, theme, one[name], most=most, form=form, bar=None)
    size, patch = data["size"], data["patch"]
    for i, row in enumerate(one["pixels"]):
        for j, value in enumerate(row):
            if value > 0:
                corner = (j / patch - 0.5, i / patch - 0.5)
                shade = Rectangle(corner, 1 / patch, 1 / patch, facecolor=(theme.ink, 0.45 * value), linewidth=0)
                axes.add_patch(shade)
    for edge in range(1, size // patch):
        axes.axhline(edge - 0.5, color=theme.muted, linewidth=0.6)
        axes.axvline(edge - 0.5, color=theme.muted, linewidth=0.6)
    axes.set(xticks=[], yticks=[], aspect="equal")


def _grid(axes: Axes, size: int, patch: int, theme: Theme) -> None:
    """The borders of the patches."""
    for edge in range(patch, size, patch):
        axes.axhline(edge - 0.5, color=theme.vermilion, linewidth=1.2)
        axes.axvline(edge - 0.5, color=theme.vermilion, linewidth=1.2)


LESSON = Lesson(
    run=run,
    verdicts=no_verdicts,
    draw=draw,
    equation=r"R=\prod_{l}\tfrac12\big(\bar A_l+I\big)",
    formula="R = Π_l ½(Ā_l + I)",
    sources=("layers/patch.py", "trace/rollout.py", "tasks/image_classification/rollout.py"),
)
