"""The picture of long_range: recall by distance and while learning; chains of operations and time by length."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import lines, logarithmic
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KINDS = ("transformer", "lstm")


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Memory above, time below."""
    figure = theme.figure(9, 6.8)
    (recall, learning), (chains, times) = figure.subplots(2, 2)
    _recall(recall, data["distances"], data["recall"], theme, words)
    recall.axhline(data["chance"], color=theme.muted, linestyle=":")
    logarithmic(recall, "x", base=2)
    recall.set(title=words("recall"), xlabel=words("distance"))
    _recall(learning, data["learning"]["step"], data["learning"], theme, words)
    learning.axhline(data["chance"], color=theme.muted, linestyle=":")
    learning.set(title=words("learning", distance=data["distances"][-1]), xlabel=words("step"))
    for axes, rows, title, form in ((chains, data["chains"], "chains", ".0f"), (times, data["times"], "times", ".3g")):
        curves = {words(name): [row[name] for row in rows] for name in ("attention", "lstm")}
        lines(axes, theme, [row["length"] for row in rows], curves, form=form)
        logarithmic(axes, "x", base=2)
        logarithmic(axes, base=2 if axes is chains else 10)
        axes.set(title=words(title), xlabel=words("length"))
    return figure


def _recall(axes: Axes, x: list[int], found: Data, theme: Theme, words: Words) -> None:
    curves = {words(kind): [one["mean"] for one in found[kind]] for kind in KINDS}
    spread = {words(kind): [(max(0.0, one["low"]), min(1.0, one["high"])) for one in found[kind]] for kind in KINDS}
    lines(axes, theme, x, curves, spread=spread, form=".1%")
    axes.set_ylim(0, 1.05)
    axes.yaxis.set_major_formatter("{x:.0%}")
