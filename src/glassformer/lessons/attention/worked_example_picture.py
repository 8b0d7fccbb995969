"""The picture of worked_example: every station of one attention, and who answers the question of the last word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glassformer.lessons.drawing import colour_bar, heat
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

STRIPS = ("input", "q", "k", "v", "heads", "output")
TERMS = 4  # of the dot product, written out

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """From top to bottom: X; Q, K, V; scores, weights, what comes out; one score by hand; W_O; the second sentence."""
    figure = theme.figure(10, 9.4)
    parts: Any = figure.subfigures(2, 1, height_ratios=(3.6, 1))
    _stations(parts[0], data, theme, words)
    panels = parts[1].subplots(1, 2)
    for axes, which in zip(panels, ("untrained", "trained"), strict=True):
        _question(axes, theme, words, which, data["question"])
    colour_bar(panels, theme, 1.0, label=words("weight"))
    return figure


def _stations(figure: Any, data: Data, theme: Theme, words: Words) -> None:
    """Every tensor in one scale, but for the weights, which are shares."""
    grid = figure.add_gridspec(5, 6, height_ratios=[1, 1, 1.7, 1.1, 1])
    tokens, numbers, shapes = data["tokens"], data["numbers"], data["written"]
    most = max(abs(value) for name in STRIPS for row in numbers[name] for value in row)
    strips = []

    def strip(axes: Axes, name: str, labelled: bool = True) -> None:
        heat(axes, theme, numbers[name], rows=tokens if labelled else None, most=most, bar=None)
        axes.set_title(words(name, shape=shapes[name]))
        axes.set_xticks([])
        if not labelled:
            axes.set_yticks([])
        strips.append(axes)

    strip(figure.add_subplot(grid[0, :]), "input")
    for place, name in enumerate(("q", "k", "v")):
        strip(figure.add_subplot(grid[1, 2 * place : 2 * place + 2]), name, labelled=place == 0)
    for place, (name, full) in enumerate((("scores", most), ("weights", 1.0))):
        axes = figure.add_subplot(grid[2, 2 * place : 2 * place + 2])
        square: list[list[float]] = numbers[name][0]
        heat(
            axes, theme, square, rows=tokens if place == 0 else None, columns=tokens, most=full, printed=True, bar=None
        )
        axes.set_title(words(name, shape=shapes[name]))
        if place:
            axes.set_yticks([])
        strips.append(axes)
    strip(figure.add_subplot(grid[2, 4:]), "heads", labelled=False)
    _by_hand(figure.add_subplot(grid[3, :]), data, theme, words)
    strip(figure.add_subplot(grid[4, :]), "output")
    colour_bar(strips, theme, most, least=-most, label=words("number"))


def _by_hand(axes: Axes, data: Data, theme: Theme, words: Words) -> None:
    """One dot product written out: the first terms, the sum, the division, softmax of its row."""
    q, k = data["numbers"]["q"][-1], data["numbers"]["k"][1]
    found, row = data["by_hand"], data["numbers"]["scores"][0][-1]
    terms = " + ".join(f"{_signed(a)}·{_signed(b)}" for a, b in zip(q[:TERMS], k[:TERMS], strict=True))
    names = {"asks": data["tokens"][-1], "answers": data["tokens"][1]}
    exps = " + ".join(f"e^{value:.2f}" for value in row)
    lines = (
        words("dot", **names, terms=terms, left=found["d_k"] - TERMS, dot=f"{found['dot']:.2f}"),
        words("divided", d_k=found["d_k"], root=f"{found['root']:g}", dot=f"{found['dot']:.2f}", score=f"{row[1]:.2f}"),
        words("shared", score=f"{row[1]:.2f}", exps=exps, weight=f"{found['weight']:.2f}"),
    )
    for place, line in enumerate(lines):
        axes.text(0, 0.82 - 0.36 * place, line, va="center", fontsize=10, color=theme.ink, parse_math=False)
    axes.set_axis_off()


def _signed(value: float) -> str:
    return f"({value:.2f})" if value < 0 else f"{value:.2f}"


def _question(axes: Axes, theme: Theme, words: Words, which: str, question: dict[str, Any]) -> None:
    """A row for each head: how much the word that asks looks at each."""
    columns = question["tokens"] if which == "untrained" else [piece.replace("▁", "") for piece in question["pieces"]]
    matrix = question[which]
    asks = question["tokens"][-1] if which == "untrained" else question["asks"].replace("▁", "")
    heat(axes, theme, matrix, rows=[str(head + 1) for head in range(len(matrix))], columns=columns, most=1.0, bar=None)
    axes.set_xticks(range(len(columns)), columns, rotation=0, ha="center")
    axes.set_title(words(which, asks=asks))
    axes.set_ylabel(words("head"))
