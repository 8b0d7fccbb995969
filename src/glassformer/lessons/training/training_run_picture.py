"""The picture of training_run: four curves over the steps of one real training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import lines, logarithmic
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Loss and gradient norm above, learning rate and throughput below."""
    figure = theme.figure(10, 6.4)
    (loss, norm), (rate, speed) = figure.subplots(2, 2, sharex=True)
    _loss(loss, data, theme, words)
    for axes, name in ((norm, "gradient_norm"), (rate, "learning_rate"), (speed, "tokens_per_second")):
        lines(axes, theme, data["steps"], {words(name): data[name]})
        axes.get_legend().remove()
        axes.set_title(words(name))
        axes.set_ylim(bottom=0)
    for axes in (rate, speed):
        axes.set_xlabel(words("step"))
    return figure


def _loss(axes: Axes, data: Data, theme: Theme, words: Words) -> None:
    """Both losses over all steps at which either was written."""
    checked = dict(zip(data["validation"]["steps"], data["validation"]["loss"], strict=True))
    trained = dict(zip(data["steps"], data["loss"], strict=True))
    lines(axes, theme, list(trained), {words("training"): list(trained.values())})
    axes.plot(
        list(checked),
        list(checked.values()),
        color=theme.vermilion,
        marker="s",
        markersize=6,
        linestyle="",
        label=words("validation"),
    )
    axes.legend()
    logarithmic(axes)
    axes.set_title(words("loss"))
