"""The picture of encoder_attention: every head on one sentence; below it, four measures against depth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glassformer.lessons.drawing import colour_bar, heat, lines
from glassformer.lessons.lesson import Data
from glassformer.lessons.stacks.untrained_picture import untrained
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Maps in a row for each layer, then the curves."""
    figure = theme.figure(10, 8)
    parts: Any = figure.subfigures(2, 1, height_ratios=(1.75, 1))
    upper, lower = parts
    _maps(upper, theme, words, data)
    _curves(lower, theme, words, data)
    return figure


def _maps(figure: Any, theme: Theme, words: Words, data: Data) -> None:
    grid = figure.subplots(data["n_layers"], data["n_heads"], squeeze=False)
    for layer, row in enumerate(grid):
        for head, axes in enumerate(row):
            heat(
                axes,
                theme,
                data["maps"][layer][head],
                rows=data["tokens"] if head == 0 else None,
                columns=data["columns"] if layer == data["n_layers"] - 1 else None,
                most=1.0,
                bar=None,
            )
            axes.tick_params(labelsize=8)
            for label in axes.get_xticklabels():
                label.set(rotation=90, ha="right", va="center", rotation_mode="anchor")
            if head:
                axes.set_yticks([])
            if layer < data["n_layers"] - 1:
                axes.set_xticks([])
            axes.set_title(words("head", layer=layer + 1, head=head + 1), fontsize=9)
    colour_bar(list(grid.flat), theme, 1.0, label=words("weight"))


def _curves(figure: Any, theme: Theme, words: Words, data: Data) -> None:
    left, middle, right = figure.subplots(1, 3)
    for axes, names in ((left, ("entropy",)), (middle, ("distance",)), (right, ("surface", "structure"))):
        labels = {name: words("trained") if len(names) == 1 else words(name) for name in names}
        curves = {labels[name]: [at["mean"] for at in data["curves"][name]] for name in names}
        spread = {labels[name]: [(at["low"], at["high"]) for at in data["curves"][name]] for name in names}
        layers = range(1 if len(names) == 1 else 0, data["depth"] + 1)
        lines(axes, theme, layers, curves, spread=spread)
        control = data["untrained"]["curves"]
        for number, name in enumerate(names):
            label = words("untrained") if len(names) == 1 else words("untrained_of", what=words(name))
            untrained(axes, layers, control[name], label, theme.series[number])
        axes.set_xlabel(words("layer"))
        axes.set_xticks(layers)
        _titled(axes, words(names[0]) if len(names) == 1 else words("probe"))
        axes.legend(fontsize=8)
        if len(names) > 1:
            axes.set_ylim(0, 1.05)


def _titled(axes: Axes, title: str) -> None:
    axes.set_title(title, fontsize=10)
