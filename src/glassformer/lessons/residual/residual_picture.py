"""The picture of residual: the gradient layer by layer, and how many times larger "Add" makes it at each depth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import lines, logarithmic
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Left: layers of one deep model. Right: the ratio at the first layer over the depth, and the reported number."""
    figure = theme.figure(10, 4.4)
    layers, ratio = figure.subplots(1, 2)
    found = data["by_layer"]
    numbers = list(range(1, data["shown"] + 1))
    curves = {words(f"{kind}_{order}"): found[order][kind] for order in ("post", "pre") for kind in ("with", "without")}
    lines(layers, theme, numbers, curves)
    logarithmic(layers)
    layers.set_title(words("by_layer", depth=data["shown"]))
    layers.set_xlabel(words("layer"))
    depths = [row["depth"] for row in next(iter(data["by_depth"].values()))]
    times = {words(order): [row["times"]["mean"] for row in rows] for order, rows in data["by_depth"].items()}
    lines(ratio, theme, depths, times)
    known, text = data["reported"], words("reported", times=f"{data['reported']:g}")
    ratio.axhline(known, color=theme.muted, linestyle=":", linewidth=1.2)
    ratio.annotate(text, (depths[0], known), (0, 3), textcoords="offset points", fontsize=9, color=theme.muted)
    logarithmic(ratio)
    ratio.set_title(words("ratio"))
    ratio.set_xlabel(words("depth"))
    return figure
