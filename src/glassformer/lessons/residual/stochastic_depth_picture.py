"""The picture of stochastic_depth: how often each layer is kept, and what it does to training and validation loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glassformer.lessons.drawing import bars, lines
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Three panels: the schedule, few images, all images."""
    figure = theme.figure(10, 4)
    survival, few, whole = figure.subplots(1, 3)
    rows = data["schedule"]
    curves = {words("survival"): [row["survival"] for row in rows], words("kept"): [row["kept"] for row in rows]}
    lines(survival, theme, [row["layer"] for row in rows], curves)
    survival.set_ylim(0, 1.05)
    survival.yaxis.set_major_formatter(lambda y, _: f"{y:.0%}")
    survival.legend(loc="lower left")
    survival.set_title(words("schedule"))
    survival.set_xlabel(words("layer"))
    _losses(few, theme, words, data["few"])
    few.set_title(words("few", n=f"{data['images']['few']:,}"))
    few.set_ylabel(words("loss"))
    _losses(whole, theme, words, data["all"])
    whole.set_title(words("all", n=f"{data['images']['all']:,}"))
    handles, labels = few.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower right", ncols=2)
    return figure


def _losses(axes: Axes, theme: Theme, words: Words, found: dict[str, Any]) -> None:
    kinds, splits = ("without", "with"), ("train", "validation")
    groups = {words(kind): [found[kind][split]["mean"] for split in splits] for kind in kinds}
    ends = {words(kind): [_ends(found[kind][split]) for split in splits] for kind in kinds}
    bars(axes, theme, [words(split) for split in splits], groups, spread=ends, form=".2f")
    if (legend := axes.get_legend()) is not None:  # one for both panels stands below
        legend.remove()
    axes.margins(y=0.15)
    axes.set_ylim(bottom=0)


def _ends(found: dict[str, Any]) -> tuple[float, float]:
    return (found["low"], found["high"]) if found["low"] is not None else (0.0, 0.0)
