"""The picture of scaled_scores: variance, entropy, gradient and softmax against d_k, with and without the division."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import bars, lines, logarithmic
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = ("plain", "scaled")
KEYS = 10  # of a query's keys, the heaviest first


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Three panels over the same d_k; below, one query's softmax at three of them."""
    shown = data.get("weights", ())  # a result of another time may have none
    figure = theme.figure(10, 6.6 if shown else 3.6)
    panels = figure.subplots(2 if shown else 1, 3, squeeze=False)
    upper = panels[0]
    widths = [row["d_k"] for row in data["rows"]]
    for axes, name in zip(upper, ("variance", "entropy", "gradient"), strict=True):
        curves = {words(kind): [row[kind][name]["mean"] for row in data["rows"]] for kind in KINDS}
        lines(axes, theme, widths, curves)
        logarithmic(axes, "x", base=2)
        axes.set_title(words(name))
        axes.set_xlabel("d_k")
        if name == "variance":
            logarithmic(axes)
        else:
            axes.set_ylim(bottom=0)
    for axes, found in zip(panels[-1], shown, strict=bool(shown)):
        largest = {words(kind): found[kind][:KEYS] for kind in KINDS}
        bars(axes, theme, [str(place + 1) for place in range(KEYS)], largest, printed=False, form=".3f")
        axes.set_ylim(0, 1)
        axes.set_title(words("softmax", d_k=found["d_k"]))
        axes.set_xlabel(words("keys", count=KEYS))
        if axes is panels[-1][0]:
            axes.set_ylabel(words("weight"))
    return figure
