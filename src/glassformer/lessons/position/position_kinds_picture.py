"""The picture of position_kinds: what each kind does as a small matrix, and loss against length."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import heat, lines
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Five small maps above, the curves below."""
    figure = theme.figure(10, 7)
    panels = figure.subplot_mosaic([list(data["does"]), ["loss"] * len(data["does"])], height_ratios=(2, 3))
    for kind, found in data["does"].items():
        axes = panels[kind]
        heat(axes, theme, found["matrix"])
        axes.set_title(words(kind))
        axes.set_xlabel(words(f"{kind}_does"), fontsize=8)
        axes.set_xticks([])
        axes.set_yticks([])
    axes = panels["loss"]
    kinds = data["kinds"]
    lines(
        axes,
        theme,
        data["lengths"],
        {words(kind): [one["mean"] for one in kinds[kind]["loss"]] for kind in kinds},
        spread={words(kind): [(one["low"], one["high"]) for one in kinds[kind]["loss"]] for kind in kinds},
    )
    axes.axvline(data["trained"], color=theme.muted, linewidth=1, linestyle=":")
    axes.annotate(
        words("trained", length=data["trained"]),
        (data["trained"], 1),
        (4, -4),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        va="top",
        fontsize=8,
        color=theme.muted,
    )
    axes.set_title(words("loss"))
    axes.set_xlabel(words("length"))
    axes.set_ylabel(words("nats"))
    return figure
