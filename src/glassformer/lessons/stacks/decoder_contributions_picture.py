"""The picture of decoder_contributions: update and worth of the three sub-layers, by layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import bars
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = ("self_attention", "cross_attention", "feed_forward")


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Above: several seeds with their intervals; below: the one trained model."""
    figure = theme.figure(10, 6.6)
    grid = figure.subplots(2, 2)
    for column, measure in enumerate(("update", "worth")):
        axes = grid[0][column]
        found = data["curves"][measure]
        labels = [words("layer", n=i + 1) for i in range(data["n_layers"])]
        groups = {words(name): [at["mean"] for at in found[name]] for name in NAMES}
        spread = {words(name): [(at["low"], at["high"]) for at in found[name]] for name in NAMES}
        bars(axes, theme, labels, groups, spread=spread, form=".2f")
        axes.set_title(words(f"{measure}_seeds"))
        highest = max(at["high"] for name in NAMES for at in found[name])
        axes.set_ylim(top=1.3 * highest)
        below = grid[1][column]
        shown = data["trained"]
        labels = [words("layer", n=i + 1) for i in range(shown["n_layers"])]
        bars(below, theme, labels, {words(name): shown[measure][name] for name in NAMES}, form=".2f")
        below.set_title(words(f"{measure}_trained"))
        below.set_ylim(top=1.3 * max(max(shown[measure][name]) for name in NAMES))
        for each in (axes, below):
            each.legend(fontsize=8, ncols=3, loc="upper center")
    return figure
