"""The picture of gradient_flow: gradient by layer and training loss, norms behind and before the sub-layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import lines, logarithmic
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme
from glassformer.lessons.training.curves_picture import curves, finer

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Above the gradient norm of each layer, below the loss; post-norm left, pre-norm right."""
    figure = theme.figure(10, 6.6)
    panels = figure.subplots(2, 2, sharey="row")
    layers = list(range(1, data["layers"] + 1))
    for column, (order, rules) in enumerate(data["orders"].items()):
        above, below = panels[0][column], panels[1][column]
        norms = {words(rule): [10 ** one["mean"] for one in seen["gradient"]] for rule, seen in rules.items()}
        spread = {
            words(rule): [(10 ** one["low"], 10 ** one["high"]) for one in seen["gradient"]]
            for rule, seen in rules.items()
        }
        lines(above, theme, layers, norms, spread=spread)
        logarithmic(above)
        finer(above)
        above.set_title(words(f"gradient_{order}"))
        above.set_xlabel(words("layer"))
        curves(below, theme, {words(rule): seen["curve"] for rule, seen in rules.items()})
        below.set_title(words(f"loss_{order}"))
        below.set_xlabel(words("step"))
        if column:
            above.legend().set_visible(False)
            below.legend().set_visible(False)
    panels[0][0].set_ylabel(words("norm"))
    panels[1][0].set_ylabel(words("loss"))
    return figure
