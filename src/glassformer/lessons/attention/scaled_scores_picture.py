"""The picture of scaled_scores: variance, entropy and gradient against d_k, with and without the division."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import lines, logarithmic
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Three panels over the same d_k."""
    figure = theme.figure(10, 3.6)
    widths = [row["d_k"] for row in data["rows"]]
    for axes, name in zip(figure.subplots(1, 3), ("variance", "entropy", "gradient"), strict=True):
        curves = {words(kind): [row[kind][name]["mean"] for row in data["rows"]] for kind in ("plain", "scaled")}
        lines(axes, theme, widths, curves)
        logarithmic(axes, "x", base=2)
        axes.set_title(words(name))
        axes.set_xlabel("d_k")
        if name == "variance":
            logarithmic(axes)
    return figure
