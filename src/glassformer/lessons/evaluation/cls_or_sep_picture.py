"""The picture of cls_or_sep: accuracy by pooling, and what [CLS] gains over each of the others, seed by seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import bars
from glassformer.lessons.hover import hover
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

POOLS = ("cls", "sep", "mean", "max")


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Two panels."""
    figure = theme.figure(10, 4)
    left, right = figure.subplots(1, 2)
    found = [data["accuracy"][how] for how in POOLS]
    spread = {"": [(one["low"], one["high"]) for one in found]}
    bars(left, theme, [words(how) for how in POOLS], {"": [one["mean"] for one in found]}, spread=spread, form=".1%")
    lowest = min(min(one["values"]) for one in found)
    left.set_ylim(max(0.0, lowest - 0.1), 1.03)
    left.yaxis.set_major_formatter("{x:.0%}")
    left.set_title(words("accuracy", unseen=f"{data['unseen']:,}"))
    _differences(right, data, theme, words)
    return figure


def _differences(axes: Axes, data: Data, theme: Theme, words: Words) -> None:
    """A point for each seed, the mean and its interval; right of the line [CLS] is better."""
    others = POOLS[1:]
    for row, how in enumerate(others):
        effect, colour = data["cls_minus"][how], theme.series[row + 1]
        for value in effect["values"]:
            axes.plot([value], [row - 0.18], marker="o", markersize=4, color=colour, alpha=0.55, linestyle="")
        (line,) = axes.plot([effect["low"], effect["high"]], [row, row], color=colour, linewidth=3)
        hover(line, f"{words(how)}: {effect['low']:+.2%} … {effect['high']:+.2%}")
        axes.plot([effect["mean"]], [row], marker="D", markersize=7, color=colour)
        axes.annotate(
            f"{effect['mean']:+.2%}", (effect["mean"], row), (0, -14), textcoords="offset points", ha="center"
        )
    axes.axvline(0, color=theme.ink, linewidth=1)
    axes.set_yticks(range(len(others)), [words("minus", other=words(how)) for how in others])
    axes.set_ylim(len(others) - 0.4, -0.6)
    axes.xaxis.set_major_formatter("{x:+.0%}")
    axes.set_title(words("differences"))
