"""The picture of stock_patches: patches and forecast, attention over patches, errors, and how far each head looks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import bars, heat, lines
from glassformer.lessons.hover import hover
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

METHODS = ("model", "persistence", "nlinear", "dlinear")


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Above what goes in and comes out; below attention, errors, heads."""
    figure = theme.figure(10, 7.6)
    panels = figure.subplot_mosaic([["series"] * 3, ["attention", "errors", "heads"]], height_ratios=[1, 1.1])
    _series(panels["series"], data, theme, words)
    number = len(data["patches"]["first"])
    names = [str(patch + 1) for patch in range(number)]
    heat(panels["attention"], theme, data["example"]["attention"], rows=names, columns=names, bar=words("weight"))
    panels["attention"].set(title=words("attention"), xlabel=words("patch"), ylabel=words("asks"))
    errors = data["forecast"]["mse"]
    bars(
        panels["errors"],
        theme,
        [words(name) for name in METHODS],
        {"": [errors[name] for name in METHODS]},
        form=".4f",
        colours=[theme.vermilion, theme.muted, theme.green, theme.purple],
    )
    panels["errors"].set_ylabel(words("squared"))
    panels["errors"].set_title(words("errors"))
    panels["errors"].tick_params(axis="x", labelsize=8)
    _heads(panels["heads"], data, theme, words)
    return figure


def _series(axes: Axes, data: Data, theme: Theme, words: Words) -> None:
    """30 days of prices, nine brackets below them, five days ahead."""
    example, patches = data["example"], data["patches"]
    past, future = example["past"], example["future"]
    context = len(past)
    ahead = list(range(context, context + len(future) + 1))
    axes.plot(range(1, context + 1), past, color=theme.ink, marker="o", markersize=3)
    for name, number in (("future", 0), ("said", 1), ("linear", 2)):
        values = [past[-1], *example[name]]
        colour, pattern = theme.series[number], theme.lines[number]
        (line,) = axes.plot(ahead, values, color=colour, linestyle=pattern, label=words(name))
        hover(line, f"{words(name)}: " + ", ".join(f"{value:.1f}" for value in values[1:]))
    low, high = min(past + future), max(past + future)
    step = (high - low) * 0.11
    for number, first in enumerate(patches["first"]):
        height = low - step * (1.4 + 1.2 * (number % 3))
        begin, end = first + 0.65, first + patches["length"] + 0.35  # days are counted from 1
        feet = [height + step * 0.5, height, height, height + step * 0.5]
        (bracket,) = axes.plot([begin, begin, end, end], feet, color=theme.muted, linewidth=1.4)
        hover(bracket, words("days", patch=number + 1, first=first + 1, last=first + patches["length"]))
        middle = (begin + end) / 2
        axes.text(middle, height + step * 0.12, str(number + 1), ha="center", va="bottom", fontsize=9, color=theme.ink)
    axes.set_title(words("series", name=example["name"], number=len(patches["first"])))
    axes.set_xlabel(words("day"))
    axes.set_ylabel(words("price"))
    axes.set_xlim(0, ahead[-1] + 1)
    axes.set_ylim(top=high + (high - low) * 0.28)
    axes.legend(loc="upper right", fontsize=9, ncols=3)


def _heads(axes: Axes, data: Data, theme: Theme, words: Words) -> None:
    """Every head of the model as a point; the line is attention spread evenly."""
    layers = data["distance"]
    heads = list(range(1, len(layers[0]) + 1))
    lines(axes, theme, heads, {words("layer", layer=i + 1): days for i, days in enumerate(layers)}, form=".1f")
    line = axes.axhline(data["even"], color=theme.muted, linestyle="--", label=words("even"))
    hover(line, f"{words('even')}: {data['even']:.1f}")
    every = [data["even"], *(day for days in layers for day in days)]
    axes.set_ylim(0, max(every) * 1.1)
    axes.set_xticks(heads)
    axes.legend(fontsize=9, loc="lower right")
    axes.set(title=words("distance"), xlabel=words("head"))
