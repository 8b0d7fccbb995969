"""The picture of special_tokens: who resembles whom before and after training, and how well they are told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import bars, colour_bar, heat
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Two maps of cosines above, the separation below."""
    figure = theme.figure(10, 7.6)
    panels = figure.subplot_mosaic([["before", "after"], ["separation"] * 2], height_ratios=(3, 2))
    names = [*data["roles"], *data["neighbours"]]
    for when in ("before", "after"):
        axes = panels[when]
        heat(axes, theme, data["maps"][when], rows=names, columns=names, most=1.0, bar=None)
        axes.set_title(words(f"map_{when}"))
        last = len(data["roles"]) - 0.5
        axes.axhline(last, color=theme.ink, linewidth=0.8)
        axes.axvline(last, color=theme.ink, linewidth=0.8)
    colour_bar([panels["before"], panels["after"]], theme, 1.0, least=-1.0, label=words("cosine"))
    axes = panels["separation"]
    times, kinds = ("before", "after"), ("sine", "noise")
    found = {kind: [data["found"][kind][when]["separation"] for when in times] for kind in kinds}
    bars(
        axes,
        theme,
        [words(when) for when in times],
        {words(kind): [one["mean"] for one in found[kind]] for kind in kinds},
        spread={words(kind): [(one["low"], one["high"]) for one in found[kind]] for kind in kinds},
        form=".0%",
    )
    axes.axhline(0.5, color=theme.muted, linewidth=1, linestyle=":")
    axes.set_ylim(0, 1.25)
    axes.set_yticks([0, 0.5, 1], ["0%", words("chance"), "100%"])
    axes.set_title(words("separation"))
    axes.legend(loc="upper center", ncols=2)
    return figure
