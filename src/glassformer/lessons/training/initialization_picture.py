"""The picture of initialization: two matrices as histograms, and what each rule makes of a signal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import bars, lines
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Three panels: W_1, W_2, and the deviation behind the feed-forward."""
    figure = theme.figure(10, 3.8)
    first, second, third = figure.subplots(1, 3)
    for axes, name in ((first, "w_1"), (second, "w_2")):
        lines(
            axes,
            theme,
            data["centres"],
            {words(rule): found[name]["density"] for rule, found in data["rules"].items()},
        )
        axes.set_title(words(name))
        axes.set_xlabel(words("weight"))
        axes.legend(fontsize=8)
    second.legend().set_visible(False)  # the same as in the first
    first.set_ylabel(words("density"))
    through = {words(rule): found["through"] for rule, found in data["rules"].items()}
    bars(
        third,
        theme,
        [words("all")],
        {rule: [one["mean"]] for rule, one in through.items()},
        spread={rule: [(one["low"], one["high"])] for rule, one in through.items()},
        form=".2f",
    )
    third.legend().set_visible(False)
    third.margins(y=0.1)
    third.set_title(words("through"))
    third.axhline(1.0, color=theme.muted, linestyle=":", linewidth=1.2)
    return figure
