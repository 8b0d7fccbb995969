"""The picture of label_smoothing: soft targets, and reliability diagrams for few and for many training images."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from glassformer.lessons.drawing import bars
from glassformer.lessons.hover import hover
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEAST = 10  # answers in a bin, below which its accuracy says little


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Targets and errors above, two diagrams below."""
    figure = theme.figure(10, 7.4)
    places = figure.subplot_mosaic([["targets", "error"], ["few", "many"]], height_ratios=(2, 3))
    labels = {name: f"ε = {value:g}" for name, value in zip(data["targets"], data["smoothings"], strict=True)}
    classes = [str(k) for k in range(data["classes"])]
    targets = {labels[name]: values for name, values in data["targets"].items()}
    bars(places["targets"], theme, classes, targets, printed=False)
    places["targets"].set_title(words("targets", digit=data["target"]))
    places["targets"].set_xlabel(words("class"))
    _errors(places["error"], data, theme, words, labels)
    for size in ("few", "many"):
        _reliability(places[size], data["sizes"][size], theme, words, labels)
        places[size].set_title(words("reliability", n=data["images"][size]))
    return figure


def _errors(axes: Axes, data: Data, theme: Theme, words: Words, labels: Mapping[str, str]) -> None:
    found = {labels[name]: [data["sizes"][size][name]["error"] for size in data["sizes"]] for name in labels}
    bars(
        axes,
        theme,
        [words("images", n=data["images"][size]) for size in data["sizes"]],
        {label: [one["mean"] for one in some] for label, some in found.items()},
        spread={label: [(one["low"], one["high"]) for one in some] for label, some in found.items()},
        form=".3f",
    )
    axes.set_title(words("error"))
    axes.margins(y=0.15)
    axes.legend().set_visible(False)  # the colours are those beside it


def _reliability(axes: Axes, sizes: Mapping[str, Any], theme: Theme, words: Words, labels: Mapping[str, str]) -> None:
    axes.plot([0, 1], [0, 1], color=theme.muted, linestyle=":", linewidth=1.2, label=words("perfect"))
    for number, (name, seen) in enumerate(sizes.items()):
        some = [one for one in seen["bins"] if one["count"] >= LEAST]
        colour, marker = theme.series[number], theme.markers[number]
        x, y = [one["confidence"] for one in some], [one["accuracy"] for one in some]
        axes.plot(x, y, color=colour, linestyle=theme.lines[number], label=labels[name])
        for one in some:
            (point,) = axes.plot([one["confidence"]], [one["accuracy"]], color=colour, marker=marker, linestyle="")
            hover(point, f"{labels[name]} · {one['confidence']:.2f}: {one['accuracy']:.2f} ({one['count']})")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1.03)
    axes.set_xlabel(words("confidence"))
    axes.set_ylabel(words("accuracy"))
    axes.legend(loc="upper left", fontsize=8)
