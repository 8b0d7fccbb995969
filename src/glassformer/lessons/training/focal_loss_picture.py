"""The picture of focal_loss: the factor by probability, whose the gradient is, and what is recognised in the end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from glassformer.lessons.drawing import bars, lines
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Three panels, the same colours for the same γ."""
    figure = theme.figure(10, 4.2)
    first, second, third = figure.subplots(1, 3)
    labels = {name: f"γ = {gamma:g}" for name, gamma in zip(data["factors"], data["gammas"], strict=True)}
    lines(first, theme, data["probabilities"], {labels[name]: values for name, values in data["factors"].items()})
    first.set_title(words("factor"))
    first.set_xlabel(words("probability"))
    _bars(second, theme, words, {labels[name]: one for name, one in data["shares"].items()}, ("hard", "rare"))
    second.set_title(words("shares"))
    third_bars = {labels[name]: one for name, one in data["recalls"].items()}
    _bars(third, theme, words, third_bars, ("rare", "common"))
    third.set_title(words("recalls"))
    return figure


def _bars(axes: Axes, theme: Theme, words: Words, of: Mapping[str, Any], names: tuple[str, str]) -> None:
    bars(
        axes,
        theme,
        [words(name) for name in names],
        {label: [one[name]["mean"] for name in names] for label, one in of.items()},
        spread={label: [(one[name]["low"], one[name]["high"]) for name in names] for label, one in of.items()},
        form=".2f",
    )
    axes.set_ylim(0, 1.2)
    axes.legend().set_visible(False)
