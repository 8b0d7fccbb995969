"""The picture of token_embedding: lengths and angles of the vectors, and their balance with the positions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import lines, logarithmic
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Norms and cosines above; below the ratio to the positions, without the factor and with it."""
    figure = theme.figure(10, 7)
    (norms, cosines), (plain, scaled) = figure.subplots(2, 2)
    for axes, name in ((norms, "norms"), (cosines, "cosines")):
        found = data[name]
        lines(axes, theme, found["at"], {words(when): found[when] for when in ("initial", "trained")})
        axes.set_title(words(f"{name}_title"))
        axes.set_xlabel(words(f"{name}_axis"))
        axes.set_yticks([])
        axes.set_ylabel(words(f"{name}_share"))
    for axes, which in ((plain, "plain"), (scaled, "scaled")):
        _ratio(axes, data, theme, words, which)
    ratios = [row[which] for row in data["balance"] for which in ("plain", "scaled")]
    for axes in (plain, scaled):
        axes.set_ylim(min(ratios) / 2, max(ratios) * 2)
    return figure


def _ratio(axes: Axes, data: Data, theme: Theme, words: Words, which: str) -> None:
    widths = sorted({row["d_model"] for row in data["balance"]})
    starts = list(dict.fromkeys(row["start"] for row in data["balance"]))
    curves = {words(start): [row[which] for row in data["balance"] if row["start"] == start] for start in starts}
    lines(axes, theme, widths, curves)
    axes.axhspan(0.5, 2, color=theme.grid, linewidth=0, zorder=0)
    logarithmic(axes, "x", base=2)
    logarithmic(axes)
    axes.set_title(words(f"{which}_title"))
    axes.set_xlabel("d_model")
    axes.set_ylabel(words("ratio"))
