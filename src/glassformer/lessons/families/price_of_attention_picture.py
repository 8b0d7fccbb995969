"""The picture of price_of_attention: FLOPs, the share of attention, and time, against length."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import lines, logarithmic
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Three panels."""
    figure = theme.figure(10, 3.9)
    flops, share, clock = figure.subplots(1, 3)
    rows = data["rows"]
    lengths = [row["length"] for row in rows]
    curves = {words(name): [row[name] / 1e9 for row in rows] for name in ("pairs", "rest")}
    lines(flops, theme, lengths, curves)
    logarithmic(flops)
    flops.set_title(words("flops"))
    lines(share, theme, lengths, {words("share"): [row["share"] for row in rows]}, form=".1%")
    share.axhline(0.5, color=theme.muted, linestyle="--")
    share.set_ylim(0, 1)
    share.yaxis.set_major_formatter("{x:.0%}")
    share.set_title(words("share"))
    share.get_legend().remove()
    timed = data["clock"]
    times = {words(name): [row[name] for row in timed] for name in ("attention", "layer")}
    lines(clock, theme, [row["length"] for row in timed], times)
    logarithmic(clock)
    clock.set_title(words("time"))
    for axes in (flops, share, clock):
        logarithmic(axes, "x", base=2)
        axes.set_xlabel(words("length"))
        axes.tick_params(axis="x", labelrotation=45)
    return figure
