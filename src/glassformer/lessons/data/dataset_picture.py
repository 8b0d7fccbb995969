"""The picture of dataset: lengths, padding, and frequency against rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import bars, logarithmic
from glassformer.lessons.hover import hover
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ORDERS = ("longest", "random", "pools", "sorted")
SIDES = ("source", "target")


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Lengths above; padding and Zipf's law below."""
    figure = theme.figure(9, 7)
    panels = figure.subplot_mosaic([["lengths", "lengths"], ["padding", "zipf"]])
    left, right = panels["padding"], panels["zipf"]
    _lengths(panels["lengths"], data, theme, words)
    bars(left, theme, [words(name) for name in ORDERS], {"": [data["padding"][n]["waste"] for n in ORDERS]}, form=".1%")
    left.yaxis.set_major_formatter("{x:.0%}")
    left.set_title(words("padding"))
    _zipf(right, data, theme, words)
    return figure


def _lengths(axes: Axes, data: Data, theme: Theme, words: Words) -> None:
    for number, side in enumerate(SIDES):
        counts = data["lengths"][side]["counts"]
        places = [length + (number - 0.5) * 0.42 for length in range(len(counts))]
        drawn = axes.bar(places, counts, 0.4, color=theme.series[number], label=words(side))
        for length, bar in enumerate(drawn):
            hover(bar, f"{words(side)} · {length}: {counts[length]:,}")
    axes.set_title(words("lengths"))
    axes.set_xlabel(words("tokens"))
    axes.grid(visible=False, axis="x")
    axes.legend()


def _zipf(axes: Axes, data: Data, theme: Theme, words: Words) -> None:
    """Points as counted, a line as fitted."""
    for number, side in enumerate((*SIDES, "natural")):
        found, colour = data["zipf"][side], theme.series[number]
        ranks, shares = found["ranks"], found["shares"]
        for rank, share in zip(ranks, shares, strict=True):
            (point,) = axes.plot(
                [rank], [share], color=colour, marker=theme.markers[number], markersize=3, linestyle=""
            )
            hover(point, f"{words(side)} · {rank}: {share:.3%}")
        fitted = [found["start"] * rank ** -found["exponent"] for rank in ranks]
        label = words("fitted", side=words(side), exponent=f"{found['exponent']:.2f}")
        axes.plot(ranks, fitted, color=colour, linestyle=theme.lines[number], linewidth=1.2, label=label)
    logarithmic(axes, "x")
    logarithmic(axes)
    axes.set_title(words("zipf"))
    axes.set_xlabel(words("rank"))
    axes.legend(fontsize=8)
