"""The picture of positional_encoding: the table, four of its waves, similarity of positions, the map for an offset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import heat
from glassformer.lessons.hover import hover
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Table and waves above, similarities and linear map below."""
    figure = theme.figure(10, 8)
    (table, waves), (dots, linear) = figure.subplots(2, 2)
    heat(table, theme, values(data["heat"]), most=1.0)
    table.set_title(words("table", d_model=data["d_model"], positions=data["positions"]))
    table.set_xlabel(words("dimension"))
    table.set_ylabel(words("position"))
    _waves(waves, data, theme, words)
    heat(dots, theme, values(data["dots"]), most=1.0)
    dots.set_title(words("dots"))
    dots.set_xlabel(words("position"))
    dots.set_ylabel(words("position"))
    heat(linear, theme, data["map"]["matrix"], most=1.0)
    linear.set_title(words("map", k=data["map"]["k"]))
    linear.set_xlabel(words("from"))
    linear.set_ylabel(words("to"))
    return figure


def values(rows: list[str]) -> list[list[float]]:
    """Bytes in hexadecimal digits → numbers from −1 to 1."""
    return [[byte / 127.5 - 1 for byte in bytes.fromhex(row)] for row in rows]


def _waves(axes: Axes, data: Data, theme: Theme, words: Words) -> None:
    """One above the other: crossing lines could not be followed."""
    for number, (dimension, wave) in enumerate(data["waves"].items()):
        middle = -2.4 * number
        axes.axhline(middle, color=theme.grid, linewidth=0.8)
        (line,) = axes.plot(
            range(len(wave)),
            [middle + value for value in wave],
            color=theme.series[number],
            linestyle=theme.lines[0],
        )
        hover(line, words("wave", dimension=dimension))
    axes.set_yticks([-2.4 * i for i in range(len(data["waves"]))], list(data["waves"]))
    axes.set_title(words("waves"))
    axes.set_xlabel(words("position"))
    axes.set_ylabel(words("dimension"))
    axes.grid(visible=False)
