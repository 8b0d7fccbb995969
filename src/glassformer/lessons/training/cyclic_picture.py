"""The picture of cyclic: the rates, the training losses under them, and where each ends at each peak."""

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
    """Three panels; a schedule has its colour in all of them."""
    figure = theme.figure(10, 6.6)
    places = figure.subplot_mosaic([["rate", "rate"], ["loss", "end"]], height_ratios=(2, 3))
    lines(places["rate"], theme, data["shown"], {words(kind): rates for kind, rates in data["rates"].items()})
    places["rate"].set_title(words("rate"))
    places["rate"].set_xlabel(words("step"))
    places["rate"].set_ylim(0, 1.4)
    places["rate"].set_yticks([0, 0.5, 1])
    places["rate"].legend(ncol=4, loc="upper right", fontsize=8)
    best = {words("at", name=words(kind), peak=f"{data['best'][kind]:g}"): kind for kind in data["schedules"]}
    curves(places["loss"], theme, {label: data["schedules"][kind]["curve"] for label, kind in best.items()})
    places["loss"].set_title(words("loss"))
    places["loss"].set_xlabel(words("step"))
    bars(
        places["end"],
        theme,
        [f"{peak:g}" for peak in data["peaks"]],
        {words(kind): [one["mean"] for one in ends] for kind, ends in data["ends"].items()},
        spread={words(kind): [(one["low"], one["high"]) for one in ends] for kind, ends in data["ends"].items()},
        form=".2f",
    )
    places["end"].set_title(words("end"))
    places["end"].set_xlabel(words("peak"))
    places["end"].margins(y=0.12)
    places["end"].legend().set_visible(False)  # the colours are those of the others
    return figure
