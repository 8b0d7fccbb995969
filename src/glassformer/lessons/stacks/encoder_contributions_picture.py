"""The picture of encoder_contributions: relative updates by layer, for both orders of the norms and the translator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import bars, lines
from glassformer.lessons.lesson import Data
from glassformer.lessons.stacks.untrained_picture import untrained
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = ("self_attention", "feed_forward", "whole")


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Two curves' panels and one of bars."""
    figure = theme.figure(10, 3.9)
    *both, last = figure.subplots(1, 3, width_ratios=(1, 1, 0.8))
    for axes, order in zip(both, ("pre", "post"), strict=True):
        found = data["orders"][order]["curves"]
        curves = {words(name): [at["mean"] for at in found[name]] for name in NAMES}
        spread = {words(name): [(at["low"], at["high"]) for at in found[name]] for name in NAMES}
        layers = range(1, data["n_layers"] + 1)
        lines(axes, theme, layers, curves, spread=spread)
        control = data["orders"][order]["untrained"]["curves"]["whole"]
        untrained(axes, layers, control, words("untrained"), theme.series[NAMES.index("whole")])
        axes.legend(fontsize=8)
        axes.set_title(words(order))
        axes.set_xlabel(words("layer"))
        axes.set_ylim(bottom=0)
        if order == "pre":
            axes.set_ylabel(words("relative"))
    shown = data["translator"]
    bars(
        last,
        theme,
        [words("layer_n", n=i + 1) for i in range(shown["n_layers"])],
        {words(name): shown[name] for name in NAMES},
        form=".2f",
    )
    last.legend(fontsize=8)
    last.set_title(words("translator"))
    last.set_ylim(top=1.35 * max(max(shown[name]) for name in NAMES))
    return figure
