"""The picture of metrics: loss and accuracy of both parts, with few sentences and with many."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import lines
from glassformer.lessons.hover import hover
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PARTS = ("training", "validation")


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Loss above, accuracy below; few on the left, many on the right."""
    figure = theme.figure(9, 6.6)
    panels = figure.subplots(2, 2, sharex=True, sharey="row")
    for column, name in enumerate(("few", "many")):
        found = data[name]
        for row, metric in enumerate(("loss", "accuracy")):
            axes = panels[row][column]
            bands = {words(part): found[f"{part}_{metric}"] for part in PARTS}
            curves = {label: [band["mean"] for band in values] for label, values in bands.items()}
            spread = {label: [(band["low"], band["high"]) for band in values] for label, values in bands.items()}
            lines(axes, theme, found["step"], curves, spread=spread)
            turn = found["turns"]["mean"]
            line = axes.axvline(turn, color=theme.muted, linestyle=":")
            hover(line, f"{words('turn')}: {turn:.0f}")
            axes.set_title(words(metric, pairs=f"{found['pairs']:,}"))
        panels[1][column].set_xlabel(words("step"))
    panels[0][0].set_ylim(bottom=0)
    panels[1][0].yaxis.set_major_formatter("{x:.0%}")
    return figure
