"""The picture of layer_norm: numbers before and after, gradients by depth in both orders, training with and without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import lines, logarithmic
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Four panels, two in a row."""
    figure = theme.figure(9, 7)
    (left, right), (lower, last) = figure.subplots(2, 2)
    _distribution(left, data, theme, words, "before")
    _distribution(right, data, theme, words, "plain")
    layers = list(range(1, data["depth"] + 1))
    curves = {words(order): [at["mean"] for at in data["gradients"][order]] for order in ("pre", "post")}
    lines(lower, theme, layers, curves)
    lower.set_ylim(bottom=0.0)
    lower.set_title(words("gradients"))
    lower.set_xlabel(words("layer"))
    hardest = data["settings"][-1]
    curves = {words("with"): hardest["curve"]["layer"], words("without"): hardest["curve"]["none"]}
    points = len(hardest["curve"]["layer"])
    steps = [1 + place * max(1, data["steps"] // points) for place in range(points)]
    lines(last, theme, steps, curves)
    logarithmic(last)
    last.set_title(words("training", depth=hardest["depth"], rate=f"{hardest['rate']:g}"))
    last.set_xlabel(words("step"))
    return figure


def _distribution(axes: Axes, data: Data, theme: Theme, words: Words, name: str) -> None:
    """A curve, filled; below it what is said of it."""
    found = data[name]
    axes.plot(found["at"], found["density"], color=theme.blue)
    axes.fill_between(found["at"], found["density"], color=theme.blue, alpha=0.25, linewidth=0)
    axes.set_title(words(name))
    axes.set_xlabel(words("number", low=f"{found['low']:.2f}", high=f"{found['high']:.2f}"))
    axes.set_yticks([])
