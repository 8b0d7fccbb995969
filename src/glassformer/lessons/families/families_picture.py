"""The picture of families: the flow of the data above, who can reach whom below, for each of the three."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import colour_bar, heat
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# (column, row, name) of each box, and which box leads to which
Box = tuple[float, float, str]
FLOWS: dict[str, tuple[tuple[Box, ...], tuple[tuple[int, int], ...]]] = {
    "encoder": (((0.5, 0, "source"), (0.5, 1, "encoder"), (0.5, 2, "class")), ((0, 1), (1, 2))),
    "decoder": (((0.5, 0, "past"), (0.5, 1, "decoder"), (0.5, 2, "next")), ((0, 1), (1, 2))),
    "encoder-decoder": (
        ((0.2, 0, "source"), (0.2, 1, "encoder"), (0.8, 0, "past"), (0.8, 1, "decoder"), (0.8, 2, "next")),
        ((0, 1), (2, 3), (3, 4), (1, 3)),
    ),
}


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """A column for each family; the third is wider, since it has two inputs."""
    figure = theme.figure(10, 6.6)
    panels = figure.subplots(2, 3, width_ratios=[1, 1.25, 1.7], height_ratios=[1, 1.45])
    most = max(value or 0.0 for one in data["families"].values() for row in one["influence"] for value in row)
    for column, (family, found) in enumerate(data["families"].items()):
        _flow(panels[0][column], family, theme, words)
        axes = panels[1][column]
        heat(axes, theme, found["influence"], rows=found["rows"], columns=found["columns"], most=most, bar=None)
        axes.set_aspect("equal")
        axes.set_xlabel(words("inputs"))
        if column == 0:
            axes.set_ylabel(words("outputs"))
        if family == "encoder-decoder":
            _border(axes, len(data["families"]["encoder"]["rows"]), len(found["rows"]), theme)
    colour_bar(list(panels[1]), theme, most, label=words("influence"))
    return figure


def _border(axes: Axes, source: int, every: int, theme: Theme) -> None:
    """Between what belongs to the encoder and what belongs to the decoder."""
    axes.plot([source - 0.5] * 2, [-0.5, every - 0.5], color=theme.ink, linewidth=1)
    axes.plot([-0.5, every - 0.5], [source - 0.5] * 2, color=theme.ink, linewidth=1)


def _flow(axes: Axes, family: str, theme: Theme, words: Words) -> None:
    boxes, arrows = FLOWS[family]
    for x, y, name in boxes:
        body = name in ("encoder", "decoder")
        look = {"boxstyle": "round,pad=0.5", "facecolor": "none", "edgecolor": theme.blue if body else theme.muted}
        axes.text(x, y, words(name), ha="center", va="center", fontsize=9, bbox=look)
    for start, end in arrows:
        (x, y, _), (to_x, to_y, _) = boxes[start], boxes[end]
        level = y == to_y
        gap = (0.17, 0.0) if level else (0.0, 0.26)
        arrow = {"arrowstyle": "->", "color": theme.vermilion if level else theme.ink, "linewidth": 1.4}
        axes.annotate("", (to_x - gap[0], to_y - gap[1]), (x + gap[0], y + gap[1]), arrowprops=arrow)
        if level:
            axes.text((x + to_x) / 2, y + 0.16, words("memory"), ha="center", va="bottom", fontsize=8)
    axes.set(xlim=(-0.15, 1.15), ylim=(-0.4, 2.4))
    axes.set_axis_off()
    axes.set_title(words(family.replace("-", "_")), loc="center")
