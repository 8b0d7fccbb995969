"""The picture of word_order: how far each word's vector differs between the two sentences, in four models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import bars
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """The encoder above, the decoder below, with and without positions."""
    figure = theme.figure(9, 6)
    panels = figure.subplots(2, 1, sharey=True)
    for axes, family in zip(panels, ("encoder", "decoder"), strict=True):
        kinds = ("none", "sinusoidal")
        groups = {words(kind): data["cases"][f"{family}_{kind}"]["words"] for kind in kinds}
        bars(axes, theme, data["tokens"], groups, form=".2f")
        axes.set_title(words(family))
        axes.set_ylabel(words("change"))
        axes.margins(y=0.2)
    panels[1].get_legend().remove()
    return figure
