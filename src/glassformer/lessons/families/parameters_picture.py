"""The picture of parameters: for each named model the shares of its parts, of the whole and of its layers alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glassformer.lessons.hover import hover
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PARTS = ("embedding", "attention", "feed_forward", "norm", "head")
STRENGTH = 0.42  # of a colour with a number on it, which is in ink
WIDE_ENOUGH = 0.09  # a share that has room for its number


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Two panels: left the whole model, right its layers alone."""
    figure = theme.figure(10, 4.2)
    panels = figure.subplots(1, 2, sharey=True)
    for axes, whole in zip(panels, ("of_model", "of_layers"), strict=True):
        _stacked(axes, theme, words, data["models"], whole)
        axes.set_title(words(whole))
    panels[0].invert_yaxis()
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


def _stacked(axes: Axes, theme: Theme, words: Words, models: list[dict[str, Any]], whole: str) -> None:
    colours = dict(zip(PARTS, (theme.sky, theme.vermilion, theme.blue, theme.green, theme.purple), strict=True))
    for at, row in enumerate(models):
        left = 0.0
        for part in PARTS:
            share = row[whole][part]
            label = words(part) if at == 0 else None
            (bar,) = axes.barh(at, share, 0.72, left=left, color=(colours[part], STRENGTH), label=label)
            hover(bar, f"{row['name']} · {words(part)}: {share:.2%}")
            if share > WIDE_ENOUGH:
                middle = left + share / 2
                axes.text(middle, at, f"{share:.0%}", ha="center", va="center", fontsize=9, color=theme.ink)
            left += share
    axes.set_yticks(range(len(models)), [f"{row['name']}\n{words('size', n=_short(row['total']))}" for row in models])
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:.0%}")
    axes.grid(visible=False, axis="y")


def _short(count: int) -> str:
    """1,009,057 → "1.0 M"."""
    return f"{count / 1e9:.1f} B" if count >= 1e9 else f"{count / 1e6:.1f} M"
