"""The picture of attention_patterns: a map for each head, and how far heads are apart, trained and untrained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import bars, colour_bar, heat
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Maps side by side, two in a row; below them the divergences."""
    heads, tokens = data["heads"], [token.replace("▁", "") for token in data["tokens"]]
    rows = -(-len(heads) // 2)
    figure = theme.figure(8, 2.6 * rows + 2.6)
    grid = figure.add_gridspec(rows + 1, 2, height_ratios=[1] * rows + [0.9])
    maps = [figure.add_subplot(grid[number // 2, number % 2]) for number in range(len(heads))]
    for number, (axes, weights) in enumerate(zip(maps, heads, strict=True)):
        heat(axes, theme, weights, rows=tokens, columns=tokens, most=1.0, bar=None)
        axes.set_title(words("head", number=number + 1))
    colour_bar(maps, theme, 1.0, label=words("weight"))
    axes = figure.add_subplot(grid[rows, :])
    apart = data["apart"]
    groups = {words(kind): [apart[name][kind] for name in apart] for kind in ("untrained", "trained")}
    bars(axes, theme, [label(name, words) for name in apart], groups, form=".2f")
    axes.set_title(words("apart"))
    axes.set_ylabel(words("bits"))
    axes.margins(y=0.2)
    return figure


def label(name: str, words: Words) -> str:
    """cross-1 → as the language says it."""
    kind, _, layer = name.partition("-")
    return words(kind, layer=layer)
