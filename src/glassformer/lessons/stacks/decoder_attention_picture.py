"""The picture of decoder_attention: self- and cross-attention of each layer, and where the gradients of q, k, v go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import colour_bar, heat
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """A row for each layer: its two attentions, and its table of paths."""
    figure = theme.figure(10, 7.2)
    grid = figure.subplots(data["n_layers"], 3, width_ratios=(1.15, 1, 0.5), squeeze=False)
    for layer, (own, across, paths) in enumerate(grid):
        last = layer == data["n_layers"] - 1
        shown = data["layers"][layer]
        heat(
            own, theme, shown["self"], rows=data["target"], columns=data["target"] if last else None, most=1.0, bar=None
        )
        heat(across, theme, shown["cross"], columns=data["source"] if last else None, most=1.0, bar=None)
        across.set_yticks([])
        own.set_ylabel(words("asks"), fontsize=9)
        if last:
            own.set_xlabel(words("read"), fontsize=9)
            across.set_xlabel(words("source"), fontsize=9)
        for axes, name in ((own, "self"), (across, "cross")):
            axes.tick_params(labelsize=8)
            axes.set_title(words(name, layer=layer + 1), fontsize=10)
            if not last:
                axes.set_xticks([])
        _paths(paths, theme, words, data, layer)
    colour_bar(list(grid[:, :2].flat), theme, 1.0, label=words("weight"))
    return figure


def _paths(axes: Axes, theme: Theme, words: Words, data: Data, layer: int) -> None:
    """1 where a gradient comes back, 0 where there is no path; the length under the pointer."""
    found = data["direct"][layer]
    sides, parts = ("decoder", "encoder"), ("q", "k", "v", "output")
    lengths = [[found[part][side] for side in sides] for part in parts]
    labels = [words(part) for part in parts]
    most = max(max(row) for row in lengths)
    heat(
        axes,
        theme,
        lengths,
        rows=labels,
        columns=[words(side) for side in sides],
        most=most,
        printed=True,
        form=".3g",
    )
    axes.tick_params(labelsize=8)
    axes.set_title(words("gradient"), fontsize=10)
