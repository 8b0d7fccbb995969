"""The picture of cls_or_sep: accuracy by pooling, and what [CLS] gains over each of the others, seed by seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    from matplotlib.ticker import MultipleLocator

    figure = theme.figure(10, 4)
    left, right = figure.subplots(1, 2)
    for place, how in enumerate(POOLS):
        _accuracy(left, place, words(how), data["accuracy"][how], theme)
    left.set_xticks(range(len(POOLS)), [words(how) for how in POOLS])
    left.set_xlim(-0.6, len(POOLS) - 0.4)
    lowest = min(min(one["values"]) for one in data["accuracy"].values())
    left.set_ylim(max(0.0, lowest - 0.05), 1.0)
    left.yaxis.set_major_locator(MultipleLocator(0.05))  # a tick at 92.5 % would be rounded to 92 %
    left.yaxis.set_major_formatter("{x:.0%}")
    left.set_title(words("accuracy", unseen=f"{data['unseen']:,}"))
    _differences(right, data, theme, words)
    return figure


def _accuracy(axes: Axes, place: int, name: str, found: Data, theme: Theme) -> None:
    """A point for each seed, the mean and its interval: no bar, for the axis does not begin at 0."""
    colour = theme.series[place % 6]
    for value in found["values"]:
        axes.plot([place - 0.16], [value], marker="o", markersize=4, color=colour, alpha=0.55, linestyle="")
    (line,) = axes.plot([place, place], [found["low"], min(1.0, found["high"])], color=colour, linewidth=3)
    hover(line, f"{name}: {found['low']:.1%} … {found['high']:.1%}")
    axes.plot([place], [found["mean"]], marker="D", markersize=7, color=colour)
    axes.annotate(f"{found['mean']:.1%}", (place, found["mean"]), (9, 0), textcoords="offset points", va="center")


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
