"""The picture of image_patches: images with their patches, the roll-out, and the loss when a patch is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import heat
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """A column for each digit, three rows."""
    figure = theme.figure(10, 6.4)
    examples = data["examples"]
    panels = figure.subplots(3, len(examples), squeeze=False)
    most = {name: max(max(max(row) for row in one[name]) for one in examples) for name in ("rollout", "drop")}
    for column, one in enumerate(examples):
        heat(panels[0][column], theme, one["pixels"], most=1.0)
        _grid(panels[0][column], data["size"], data["patch"], theme)
        for row, (name, form) in enumerate((("rollout", ".0%"), ("drop", ".2f")), 1):
            axes = panels[row][column]
            heat(axes, theme, one[name], most=most[name] * 1.3 or 1.0, form=form, printed=True)
        for row in range(3):
            panels[row][column].set(xticks=[], yticks=[], aspect="equal")
        panels[0][column].set_title(str(one["label"]), loc="center")
    for row, name in enumerate(("image", "rollout", "drop")):
        panels[row][0].set_ylabel(words(name))
    return figure


def _grid(axes: Axes, size: int, patch: int, theme: Theme) -> None:
    """The borders of the patches."""
    for edge in range(patch, size, patch):
        axes.axhline(edge - 0.5, color=theme.vermilion, linewidth=1.6)
        axes.axvline(edge - 0.5, color=theme.vermilion, linewidth=1.6)
