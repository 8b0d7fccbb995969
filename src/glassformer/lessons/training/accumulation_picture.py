"""The picture of accumulation: how far the added-up gradient is from that of the big batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import lines, logarithmic
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(data: Data, theme: Theme, words: Words) -> Figure:
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
        axes.set_title(words(lengths))
        axes.set_xlabel(words("parts"))
        axes.get_legend().remove()
    panels[0].set_ylabel(words("error"))
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure
