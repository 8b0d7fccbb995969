"""The picture of cross_attention_elsewhere: a canvas with what was found, and where each query looked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glassformer.lessons.drawing import heat
from glassformer.lessons.hover import hover
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

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
    side = len(data["example"]["image"])
    _canvas(left, theme, data, side)
    left.set_title(words("canvas"))
    for number, answer in enumerate(found):
        _frame(left, theme, number, answer, side)
    _places(right, theme, words, data)
    panels = lower.subplots(1, max(len(found), 1), squeeze=False)[0]
    for number, (axes, answer) in enumerate(zip(panels, found, strict=False)):
        heat(axes, theme, answer["map"], form=".3f")
        cells = len(answer["map"])
        _frame(axes, theme, number, answer, cells)
        _bare(axes)
        axes.set_title(words("query", n=answer["query"] + 1, digit=answer["digit"], p=answer["sureness"]), fontsize=9)
    return figure


def _canvas(axes: Axes, theme: Theme, data: Data, side: int) -> None:
    import numpy as np
    from matplotlib.colors import to_rgb

    image = np.zeros((side, side, 4))
    image[..., :3] = to_rgb(theme.ink)
    image[..., 3] = np.asarray(data["example"]["image"]) / 16
    axes.imshow(image, interpolation="nearest")
    _bare(axes)


def _bare(axes: Axes) -> None:
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_aspect("equal")
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(True)


def _frame(axes: Axes, theme: Theme, number: int, answer: dict[str, Any], side: int) -> None:
    from matplotlib.patches import Rectangle

    cx, cy, w, h = (value * side for value in answer["box"])
    colour = theme.series[1 + number % 5]
    corner = (cx - w / 2 - 0.5, cy - h / 2 - 0.5)
    frame = Rectangle(corner, w, h, fill=False, edgecolor=colour, linewidth=2, linestyle=theme.lines[number % 4])
    hover(frame, f"{answer['digit']}: {answer['sureness']:.2f}")
    axes.add_patch(frame)


def _places(axes: Axes, theme: Theme, words: Words, data: Data) -> None:
    """The centre of everything that a query found, over all canvases."""
    for query, centres in enumerate(data["centres"]):
        if centres:
            xs, ys = zip(*centres, strict=True)
            axes.scatter(
                xs,
                ys,
                s=16,
                marker=theme.markers[query % 6],
                color=theme.series[query % 6],
                facecolor="none" if query >= 6 else theme.series[query % 6],
                alpha=0.75,
                label=str(query + 1),
            )
    axes.set_xlim(0, 1)
    axes.set_ylim(1, 0)
    _bare(axes)
    axes.legend(title=words("number"), loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8)
    axes.set_title(words("places"))
