"""The picture of pre_or_post_norm: loss against depth, with and without warm-up; and how the stream grows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import bars, lines, logarithmic
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ORDERS = ("pre", "post")
KINDS = ("with", "without")


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Above: the two columns of the grid. Below: the stream by layer, and pre-norm without its final norm."""
    figure = theme.figure(9, 7)
    (cold, warm), (stream, final) = figure.subplots(2, 2)
    highest = max(cell[order]["high"] or 0.0 for cell in data["cells"] for order in ORDERS)
    for axes, warmup in ((cold, 0), (warm, 1)):
        cells = [cell for cell in data["cells"] if cell["warmup"] == warmup]
        curves = {words(order): [cell[order]["mean"] for cell in cells] for order in ORDERS}
        spread = {words(order): [(cell[order]["low"], cell[order]["high"]) for cell in cells] for order in ORDERS}
        lines(axes, theme, [cell["depth"] for cell in cells], curves, spread=spread)
        axes.set_title(words("warm" if warmup else "cold"))
        axes.set_xlabel(words("depth"))
        axes.set_xticks([cell["depth"] for cell in cells])
        axes.set_ylim(0, 1.25 * highest)
    cold.set_ylabel(words("loss"))
    deepest = data["cells"][-1]
    sizes = {words(order): deepest["stream"][order] for order in ORDERS}
    lines(stream, theme, list(range(deepest["depth"] + 1)), sizes)
    logarithmic(stream)
    stream.set_title(words("stream", depth=deepest["depth"]))
    stream.set_xlabel(words("layer"))
    rows = [*data["final"], data["final_longer"]]
    groups = {words(f"{kind}_final"): [row[kind]["mean"] for row in rows] for kind in KINDS}
    ends = {words(f"{kind}_final"): [(row[kind]["low"], row[kind]["high"]) for row in rows] for kind in KINDS}
    labels = [words("layers", depth=row["depth"], steps=row["steps"]) for row in rows]
    bars(final, theme, labels, groups, spread=ends, form=".2f")
    final.set_title(words("final"))
    final.margins(y=0.3)
    final.legend(loc="upper center", ncols=2)
    return figure
