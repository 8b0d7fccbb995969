"""The picture of schedules: those that fall once, those that turn, and how much rate each gives in all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import bars, lines
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FALL = ("noam", "inverse_sqrt", "linear", "cosine")
UNDER = 7.0  # points wide, under the others
OTHERS = ("one_cycle", "cyclic", "constant")


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Two panels of curves over the same steps, and a bar for each schedule."""
    figure = theme.figure(10, 6.2)
    places = figure.subplot_mosaic([["fall", "others"], ["mean", "mean"]], height_ratios=(3, 2))
    for name, kinds in (("fall", FALL), ("others", OTHERS)):
        _curves(places[name], data, theme, words, kinds)
        places[name].set_title(words(name))
    places["fall"].set_ylabel(words("share"))
    bars(
        places["mean"],
        theme,
        [words(kind) for kind in data["kinds"]],
        {"": [row["mean"] for row in data["kinds"].values()]},
        form=".2f",
    )
    places["mean"].set_title(words("mean"))
    places["mean"].set_ylim(0, 1.1)
    return figure


def _curves(axes: Axes, data: Data, theme: Theme, words: Words, kinds: tuple[str, ...]) -> None:
    lines(axes, theme, data["shown"], {words(kind): data["kinds"][kind]["curve"] for kind in kinds}, form=".2f")
    axes.lines[0].set(
        linewidth=UNDER, alpha=0.4, linestyle="-", zorder=1
    )  # another may lie on it, and it is still seen
    axes.set_xlabel(words("step"))
    axes.set_ylim(0, 1.35)
    axes.legend(ncol=2, loc="upper right", fontsize=8)
