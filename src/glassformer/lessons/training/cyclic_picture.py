"""The picture of cyclic: the rates, the training losses under them, and where they end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import bars, lines
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme
from glassformer.lessons.training.curves_picture import curves

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Three panels."""
    figure = theme.figure(10, 6.4)
    places = figure.subplot_mosaic([["rate", "rate"], ["loss", "end"]])
    lines(places["rate"], theme, data["shown"], {words(kind): rates for kind, rates in data["rates"].items()})
    places["rate"].set_title(words("rate"))
    places["rate"].legend(ncol=4, loc="lower center", bbox_to_anchor=(0.5, -0.38), fontsize=8)
    curves(places["loss"], theme, {words(kind): seen["curve"] for kind, seen in data["schedules"].items()})
    places["loss"].set_title(words("loss"))
    places["loss"].set_xlabel(words("step"))
    ends = {name: [seen[name] for seen in data["schedules"].values()] for name in ("training", "validation")}
    bars(
        places["end"],
        theme,
        [words(kind) for kind in data["schedules"]],
        {words(name): [one["mean"] for one in some] for name, some in ends.items()},
        spread={words(name): [(one["low"], one["high"]) for one in some] for name, some in ends.items()},
        form=".2f",
    )
    places["end"].set_title(words("end"))
    places["end"].legend(loc="lower right", fontsize=8)
    return figure
