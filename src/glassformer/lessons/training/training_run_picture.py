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
        axes.set_ylim(0, 1.08 * max(value for value in data[name] if value is not None))
    rate.plot(data["schedule"]["steps"], data["schedule"]["rate"], color=theme.muted, linewidth=4, alpha=0.45, zorder=1)
    for axes in (rate, speed):
        axes.set_xlabel(words("step"))
        axes.set_xlim(0, 1.03 * data["steps"][-1])
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
    low, high = axes.get_ylim()
    axes.set_ylim(low / 1.5, high * 1.5)
    axes.set_title(words("loss"))
