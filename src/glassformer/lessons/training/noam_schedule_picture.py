"""The picture of noam_schedule: curves for several warm-ups, and the peak against warm-up for several widths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import lines, logarithmic
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Two panels."""
    figure = theme.figure(10, 4.2)
    left, right = figure.subplots(1, 2)
    curves = {words("warmup_is", n=warmup): rates for warmup, rates in data["curves"].items()}
    lines(left, theme, data["shown"], curves, form=".2e")
    left.set_xticks(range(0, data["steps"] + 1, 5000))
    left.set_title(words("curves", d_model=data["paper"]["d_model"]))
    left.set_xlabel(words("step"))
    left.set_ylabel(words("rate"))
    peaks = {f"d_model {width}": [peak["rate"] for peak in row] for width, row in data["peaks"].items()}
    lines(right, theme, data["warmups"], peaks, form=".2e")
    logarithmic(right, "x", base=2)
    logarithmic(right, "y", base=2)
    right.set_yticks([0.0005, 0.001, 0.002], ["0.0005", "0.001", "0.002"])
    right.set_xticks(data["warmups"], [str(warmup) for warmup in data["warmups"]])
    right.set_title(words("peaks"))
    right.set_xlabel(words("warmup"))
    right.set_ylabel(words("peak"))
    return figure
