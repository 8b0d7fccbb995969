"""The picture of image_patches: images with their patches, the roll-out, and the loss when a patch is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import colour_bar, heat, pixels
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """A column for each digit, three rows: its patches, the roll-out laid over it, what its loss is without each."""
    figure = theme.figure(10, 6.6)
    examples = data["examples"]
    panels = figure.subplots(3, len(examples), squeeze=False)
    for column, one in enumerate(examples):
        pixels(panels[0][column], theme, one["pixels"])
        _grid(panels[0][column], data["size"], data["patch"], theme)
        panels[0][column].set_title(str(one["label"]), loc="center")
    for row, (name, form) in enumerate((("rollout", ".1%"), ("drop", ".2f")), 1):
        values = [abs(value) for one in examples for line in one[name] for value in line]
        least = min(0.0, *(value for one in examples for line in one[name] for value in line))
        most = max(values) or 1.0
        for axes, one in zip(panels[row], examples, strict=True):
            _overlay(axes, theme, one, name, form, most, data)
        colour_bar(list(panels[row]), theme, most, least=-most if least < 0 else 0.0, label=words(f"{name}_unit"))
    for row, name in enumerate(("image", "rollout", "drop")):
        panels[row][0].set_ylabel(words(name))
    return figure


def _overlay(axes: Axes, theme: Theme, one: Data, name: str, form: str, most: float, data: Data) -> None:
    """A map of patches with the digit on it, pale: its pixels are `patch` times finer."""
    from matplotlib.patches import Rectangle

    heat(axes, theme, one[name], most=most, form=form, bar=None)
    size, patch = data["size"], data["patch"]
    for i, row in enumerate(one["pixels"]):
        for j, value in enumerate(row):
            if value > 0:
                corner = (j / patch - 0.5, i / patch - 0.5)
                shade = Rectangle(corner, 1 / patch, 1 / patch, facecolor=(theme.ink, 0.45 * value), linewidth=0)
                axes.add_patch(shade)
    for edge in range(1, size // patch):
        axes.axhline(edge - 0.5, color=theme.muted, linewidth=0.6)
        axes.axvline(edge - 0.5, color=theme.muted, linewidth=0.6)
    axes.set(xticks=[], yticks=[], aspect="equal")


def _grid(axes: Axes, size: int, patch: int, theme: Theme) -> None:
    """The borders of the patches."""
    for edge in range(patch, size, patch):
        axes.axhline(edge - 0.5, color=theme.vermilion, linewidth=1.2)
        axes.axvline(edge - 0.5, color=theme.vermilion, linewidth=1.2)
