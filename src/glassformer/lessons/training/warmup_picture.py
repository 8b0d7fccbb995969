"""The picture of warmup: loss and gradient norm of short trainings, one line for each length."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import logarithmic
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme
from glassformer.lessons.training.curves_picture import curves, finer

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Above the loss, below the gradient norm; post-norm left, pre-norm right."""
    figure = theme.figure(10, 6.6)
    panels = figure.subplots(2, 2, sharey="row")
    for column, (order, lengths) in enumerate(data["orders"].items()):
        for row, kind in enumerate(("losses", "gradients")):
            axes = panels[row][column]
            curves(axes, theme, {words("length", n=length): seen[kind] for length, seen in lengths.items()})
            axes.set_title(words(f"{kind}_{order}"))
            axes.set_xlabel(words("step"))
            if row or column:
                axes.legend().set_visible(False)
        logarithmic(panels[1][column])
        finer(panels[1][column])
    panels[0][0].set_ylabel(words("loss"))
    panels[1][0].set_ylabel(words("norm"))
    return figure
