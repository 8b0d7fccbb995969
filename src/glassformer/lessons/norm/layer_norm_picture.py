"""The picture of layer_norm: numbers before and after, gradients by depth in both orders, training with and without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import lines, logarithmic
from glassformer.lessons.hover import hover
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
    right.sharey(left)
    for axes, name in ((left, "before"), (right, "plain")):
        _tokens(axes, data, theme, words, name)
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


def _tokens(axes: Axes, data: Data, theme: Theme, words: Words, name: str) -> None:
    """A line for each token, from one deviation below its mean to one above; both panels have one scale."""
    for place, token in enumerate(data["by_token"][name], 1):
        mean, deviation = token["mean"], token["deviation"]
        ends = [mean - deviation, mean + deviation]
        (line,) = axes.plot([place] * 2, ends, color=theme.blue, linewidth=5, solid_capstyle="butt")
        hover(line, f"{mean:.2f} ± {deviation:.2f}")
        axes.plot([place], [mean], color=theme.vermilion, marker="o", markersize=3)
    axes.set_title(words(name))
    found = data[name]
    axes.set_xlabel(words("number", low=f"{found['low']:.2f}", high=f"{found['high']:.2f}"))
    axes.set_xticks([])
