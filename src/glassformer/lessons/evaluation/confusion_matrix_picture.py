"""The picture of confusion_matrix: the matrix, the share found of each class, and images that were taken wrongly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glassformer.lessons.drawing import bars, pixels
from glassformer.lessons.hover import hover
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = 6


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """The matrix on the left, recall on the right; wrong images below, where there are any."""
    figure = theme.figure(10, 7)
    examples = [f"image{number}" for number in range(COLUMNS)]
    layout: list[Any] = [["matrix"] * 3 + ["recall"] * 3, examples]
    panels = figure.subplot_mosaic(layout, height_ratios=[3, 1])
    _matrix(panels["matrix"], data, theme, words)
    _recall(panels["recall"], data, theme, words)
    for number, name in enumerate(examples):
        axes = panels[name]
        axes.set_axis_off()
        if number < len(data["examples"]):
            one = data["examples"][number]
            pixels(axes, theme, one["pixels"])
            axes.set_title(words("taken", true=one["true"], said=one["said"], sure=f"{one['sure']:.0%}"), fontsize=9)
    return figure


def _matrix(axes: Axes, data: Data, theme: Theme, words: Words) -> None:
    """Right answers in one colour, wrong ones in the other, each as strong as its count among its kind."""
    from matplotlib.patches import Rectangle

    labels, matrix = data["labels"], data["matrix"]
    right = max(1, *(row[i] for i, row in enumerate(matrix)))
    wrong = max(1, *(count for i, row in enumerate(matrix) for j, count in enumerate(row) if i != j))
    for i, row in enumerate(matrix):
        for j, count in enumerate(row):
            share = count / right if i == j else count and 0.2 + 0.8 * count / wrong
            colour = (theme.heat if i == j else theme.below, share)
            cell = axes.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, facecolor=colour, linewidth=0))
            hover(cell, f"{labels[i]} → {labels[j]}: {count}")
            if count:
                axes.text(j, i, str(count), ha="center", va="center", fontsize=9, color=theme.ink)
    axes.set(xlim=(-0.5, len(labels) - 0.5), ylim=(len(labels) - 0.5, -0.5), aspect="equal")
    axes.set_xticks(range(len(labels)), labels)
    axes.set_yticks(range(len(labels)), labels)
    axes.grid(visible=False)
    axes.set_title(words("matrix", wrong=data["wrong"], images=data["images"]))
    axes.set_xlabel(words("said"))
    axes.set_ylabel(words("true"))


def _recall(axes: Axes, data: Data, theme: Theme, words: Words) -> None:
    name = words("recall")
    spread = {name: [(one["low"], one["high"]) for one in data["classes"]]}
    values = {name: [one["recall"] for one in data["classes"]]}
    bars(axes, theme, data["labels"], values, spread=spread, form=".1%", horizontal=True)
    axes.set_xlim(0, 1.18)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1.0])
    axes.xaxis.set_major_formatter("{x:.0%}")
    axes.set_title(name)
