"""The picture of masking: which tokens are real, who may look back, and both rules together for one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import heat
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
    heat(
        batch, theme, _blocked(data["padding"]), most=1.0, rows=[words("row", number=i + 1) for i in range(len(pieces))]
    )
    for i, row in enumerate(pieces):
        for j, piece in enumerate(row):
            batch.text(j, i, piece, ha="center", va="center", fontsize=9, color=theme.ink)
    batch.set_xticks([])
    batch.set_title(words("padding"))
    row = pieces[data["shown"]]
    for place, name in enumerate(("look_ahead", "combined")):
        axes = figure.add_subplot(grid[1, place])
        heat(axes, theme, _blocked(data[name]), most=1.0, rows=row, columns=row)
        axes.set_title(words(name, number=data["shown"] + 1))
        axes.set_xlabel(words("keys"))
        if place == 0:
            axes.set_ylabel(words("queries"))
    return figure


def _blocked(mask: list[list[int]]) -> list[list[float | None]]:
    """May look: a light colour; may not: a cell that does not exist."""
    return [[0.35 if may else None for may in row] for row in mask]
