"""The picture of worked_example: every station of one attention, and who answers the question of the last word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glassformer.lessons.drawing import heat
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """From top to bottom: X; Q, K, V; scores, weights, what comes out; concatenation; the second sentence."""
    figure = theme.figure(9, 8)
    grid = figure.add_gridspec(5, 6, height_ratios=[1, 1, 1.7, 1, 1.7])
    tokens, numbers, shapes = data["tokens"], data["numbers"], data["written"]

    def strip(axes: Axes, name: str, labelled: bool = True) -> None:
        heat(axes, theme, numbers[name], rows=tokens if labelled else None)
        axes.set_title(words(name, shape=shapes[name]))
        axes.set_xticks([])
        if not labelled:
            axes.set_yticks([])

    strip(figure.add_subplot(grid[0, :]), "input")
    for place, name in enumerate(("q", "k", "v")):
        strip(figure.add_subplot(grid[1, 2 * place : 2 * place + 2]), name, labelled=place == 0)
    for place, name in enumerate(("scores", "weights")):
        axes = figure.add_subplot(grid[2, 2 * place : 2 * place + 2])
        square: list[list[float]] = numbers[name][0]
        heat(axes, theme, square, rows=tokens if place == 0 else None, columns=tokens, printed=True)
        axes.set_title(words(name, shape=shapes[name]))
        if place:
            axes.set_yticks([])
    strip(figure.add_subplot(grid[2, 4:]), "heads", labelled=False)
    strip(figure.add_subplot(grid[3, :]), "output")
    _question(figure.add_subplot(grid[4, :3]), theme, words, "untrained", data["question"])
    _question(figure.add_subplot(grid[4, 3:]), theme, words, "trained", data["question"])
    return figure


def _question(axes: Axes, theme: Theme, words: Words, which: str, question: dict[str, Any]) -> None:
    """A row for each head: how much the word that asks looks at each."""
    columns = question["tokens"] if which == "untrained" else [piece.replace("▁", "") for piece in question["pieces"]]
    matrix = question[which]
    asks = question["tokens"][-1] if which == "untrained" else question["asks"].replace("▁", "")
    heat(axes, theme, matrix, rows=[str(head + 1) for head in range(len(matrix))], columns=columns, most=1.0)
    axes.set_xticks(range(len(columns)), columns, rotation=0, ha="center")
    axes.set_title(words(which, asks=asks))
    axes.set_ylabel(words("head"))
