"""The picture of residual: the gradient by layer and by depth with and without "Add", and how alike tokens become."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import lines, logarithmic
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Above: layers of one deep model, without norms and in pre-norm order. Below: over the depth."""
    figure = theme.figure(9.5, 7.2)
    (bare, normed), (ratio, alike) = figure.subplots(2, 2)
    numbers = list(range(1, data["shown"] + 1))
    for axes, order in ((bare, "no_norm"), (normed, "pre")):
        found = data["by_layer"][order]
        lines(axes, theme, numbers, {words(kind): found[kind] for kind in ("with", "without")})
        logarithmic(axes)
        axes.set_title(words("by_layer", order=words(order)))
        axes.set_xlabel(words("layer", depth=data["shown"]))
    low, high = normed.get_ylim()
    normed.set_ylim(min(low, 0.1), max(high, 100))
    _ratio(ratio, data, theme, words)
    rows = data["by_depth"]["pre"]
    depths = [row["depth"] for row in rows]
    lines(alike, theme, depths, {words(kind): [row["alike"][kind] for row in rows] for kind in ("with", "without")})
    alike.set_ylim(-0.05, 1.08)
    alike.set_title(words("alike"))
    alike.set_xlabel(words("depth"))
    return figure


def _ratio(axes: Axes, data: Data, theme: Theme, words: Words) -> None:
    depths = [row["depth"] for row in data["by_depth"]["pre"]]
    orders = ("no_norm", "pre", "post")
    lines(
        axes,
        theme,
        depths,
        {words(order): [row["times"]["mean"] for row in data["by_depth"][order]] for order in orders},
    )
    axes.axhline(data["reported"], color=theme.muted, linestyle=":", linewidth=1.2)
    text = words("reported", times=f"{data['reported']:g}")
    at = (depths[-1], data["reported"])
    axes.annotate(text, at, (0, 3), textcoords="offset points", ha="right", fontsize=9, color=theme.muted)
    logarithmic(axes)
    axes.set_title(words("ratio"))
    axes.set_xlabel(words("depth"))
