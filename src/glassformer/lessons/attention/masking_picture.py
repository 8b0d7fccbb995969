"""The picture of masking: which tokens are real, who may look back, and both rules together for one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import mask, mask_legend
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Above: the batch with its padding. Below: the triangle, and the triangle without the padding."""
    figure = theme.figure(8.5, 7.4)
    grid = figure.add_gridspec(2, 2, height_ratios=[0.62, 1])
    pieces = [[piece.replace("▁", "") for piece in row] for row in data["pieces"]]
    batch = figure.add_subplot(grid[0, :])
    mask(batch, theme, data["padding"], rows=[words("row", number=i + 1) for i in range(len(pieces))])
    for i, row in enumerate(pieces):
        for j, piece in enumerate(row):
            batch.text(j, i, piece, ha="center", va="center", fontsize=9, color=theme.ink)
    batch.set_xticks([])
    batch.set_title(words("padding"))
    row = pieces[data["shown"]]
    for place, name in enumerate(("look_ahead", "combined")):
        axes = figure.add_subplot(grid[1, place])
        mask(axes, theme, data[name], rows=row, columns=row)
        axes.set_title(words(name, number=data["shown"] + 1))
        axes.set_xlabel(words("keys"))
        if place == 0:
            axes.set_ylabel(words("queries"))
    mask_legend(figure, theme, words("may"), words("may_not"))
    return figure
