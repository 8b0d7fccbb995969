"""The picture of cross_attention_elsewhere: a canvas with what was found, and where each query looked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glassformer.lessons.drawing import colour_bar, heat, pixels
from glassformer.lessons.hover import hover
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

DARKEST = 16  # the ink of a pixel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Above: the canvas and the places of all queries; below: one map for each query that answered."""
    figure = theme.figure(10, 6.8)
    parts: Any = figure.subfigures(2, 1, height_ratios=(1.25, 1))
    upper, lower = parts
    left, right = upper.subplots(1, 2)
    found = data["example"]["answers"]
    image = data["example"]["image"]
    pixels(left, theme, [[value / DARKEST for value in row] for row in image])
    _bare(left)
    left.set_title(words("canvas"))
    for answer in found:
        _frame(left, theme, answer, len(image), named=True)
    _places(right, theme, words, data)
    panels = lower.subplots(1, max(len(found), 1), squeeze=False)[0]
    most = max((value for answer in found for row in answer["map"] for value in row), default=1.0)
    for axes, answer in zip(panels, found, strict=False):
        heat(axes, theme, answer["map"], form=".3f", most=most, bar=None)
        _frame(axes, theme, answer, len(answer["map"]))
        _bare(axes)
        axes.set_title(words("query", n=answer["query"] + 1, digit=answer["digit"], p=answer["sureness"]), fontsize=9)
    colour_bar(panels, theme, most, label=words("weight"))
    return figure


def _look(theme: Theme, query: int) -> tuple[str, str, bool]:
    """Colour, mark, hollow or not: the same for a query wherever it is seen."""
    return theme.series[query % 6], theme.markers[query % 6], query >= 6


def _bare(axes: Axes) -> None:
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_aspect("equal")
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(True)


def _frame(axes: Axes, theme: Theme, answer: dict[str, Any], side: int, named: bool = False) -> None:
    """The box that a query drew; `named` with its number beside it."""
    from matplotlib.patches import Rectangle

    cx, cy, w, h = (value * side for value in answer["box"])
    colour, _, hollow = _look(theme, answer["query"])
    corner = (cx - w / 2 - 0.5, cy - h / 2 - 0.5)
    frame = Rectangle(corner, w, h, fill=False, edgecolor=colour, linewidth=2, linestyle="--" if hollow else "-")
    hover(frame, f"{answer['digit']}: {answer['sureness']:.2f}")
    axes.add_patch(frame)
    if named:
        axes.text(corner[0] + w + 0.4, corner[1], str(answer["query"] + 1), va="top", fontsize=9, color=theme.ink)


def _places(axes: Axes, theme: Theme, words: Words, data: Data) -> None:
    """The centre of everything that a query found, over all canvases."""
    for query, centres in enumerate(data["centres"]):
        if centres:
            xs, ys = zip(*centres, strict=True)
            colour, marker, hollow = _look(theme, query)
            axes.scatter(
                xs,
                ys,
                s=16,
                marker=marker,
                color=colour,
                facecolor="none" if hollow else colour,
                alpha=0.75,
                label=str(query + 1),
            )
    axes.set_xlim(0, 1)
    axes.set_ylim(1, 0)
    _bare(axes)
    axes.legend(title=words("number"), loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8)
    axes.set_title(words("places"))
