"""The picture of onecycle: learning rate and momentum over one training, each against the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import lines
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Two panels over the same steps; a dotted line where the rate turns."""
    figure = theme.figure(9, 5)
    above, below = figure.subplots(2, 1, sharex=True)
    points = [rate if number % 4 == 0 else None for number, rate in enumerate(data["torch_rate"])]  # both are seen
    lines(above, theme, data["shown"], {words("ours"): data["rate"], words("torch"): points})
    above.legend(handles=[above.lines[0], above.lines[-1]], labels=[words("ours"), words("torch")])
    above.set_title(words("rate"))
    lines(below, theme, data["shown"], {words("momentum_line"): data["momentum"]})
    below.legend().set_visible(False)
    below.set_title(words("momentum"))
    below.set_xlabel(words("step"))
    for axes in (above, below):
        axes.axvline(data["peak_step"], color=theme.muted, linestyle=":", linewidth=1.2)
    return figure
