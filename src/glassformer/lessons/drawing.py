"""The kinds of panels that lessons are drawn with: lines with their spread, bars, heat maps. All of them show values.

Heat maps are a colour more or less transparent, so that one drawing is right on light and on dark paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from glassformer.lessons.hover import hover
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_POINTS = 60  # more are a line, not points
MOST_CELLS = 1600  # more are an image, without values under the pointer
MOST_NUMBERS = 100  # more cells than these hold no printed number


def lines(
    axes: Axes,
    theme: Theme,
    x: Sequence[float],
    curves: Mapping[str, Sequence[float | None]],
    *,
    spread: Mapping[str, Sequence[tuple[float, float]]] | None = None,
    form: str = ".3g",
) -> None:
    """Curves over the same x, each with its own colour, pattern and mark; `spread` gives (low, high) at each x."""
    for number, (label, values) in enumerate(curves.items()):
        colour, pattern = theme.series[number % 6], theme.lines[number % 6]
        marker = theme.markers[number % 6] if len(x) <= MOST_POINTS else ""
        numbers = [float("nan") if value is None else value for value in values]
        axes.plot(x, numbers, color=colour, linestyle=pattern, label=label)
        if spread is not None and label in spread:
            low, high = zip(*spread[label], strict=True)
            axes.fill_between(x, low, high, color=colour, alpha=0.18, linewidth=0)
        if marker:
            for at, value in zip(x, values, strict=True):
                if value is not None:
                    (point,) = axes.plot([at], [value], color=colour, marker=marker, markersize=4.5, linestyle="")
                    hover(point, f"{label} · {at:g}: {value:{form}}")
    if any(curves):
        axes.legend()


def logarithmic(axes: Axes, which: str = "y", base: int = 10) -> None:
    """A scale of powers, plain numbers beside it (matplotlib's own 10⁻³ has no Hangul font); call it after drawing."""
    from matplotlib.ticker import LogLocator, NullFormatter

    (axes.set_yscale if which == "y" else axes.set_xscale)("log", base=base)
    axis = axes.yaxis if which == "y" else axes.xaxis
    axis.set_major_locator(LogLocator(base=base, numticks=8))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())


def bars(
    axes: Axes,
    theme: Theme,
    labels: Sequence[str],
    groups: Mapping[str, Sequence[float | None]],
    *,
    spread: Mapping[str, Sequence[tuple[float, float]]] | None = None,
    form: str = ".3g",
    printed: bool = True,
    horizontal: bool = False,
) -> None:
    """A bar for each label and group, its value at its end, with (low, high) as a line where `spread` gives it."""
    width = 0.8 / len(groups)
    for number, (group, values) in enumerate(groups.items()):
        colour = theme.series[number % 6]
        for at, value in enumerate(values):
            place = at + (number - (len(groups) - 1) / 2) * width
            height = 0.0 if value is None else value
            draw = axes.barh if horizontal else axes.bar
            (bar,) = draw(
                place, height, width * 0.92, color=colour, label=group if at == 0 and len(groups) > 1 else None
            )
            text = "–" if value is None else f"{value:{form}}"
            hover(bar, f"{labels[at]}{' · ' + group if len(groups) > 1 else ''}: {text}")
            ends = spread[group][at] if spread is not None and group in spread else None
            if ends is not None:
                axes.plot(*_swapped([place, place], list(ends), horizontal), color=theme.ink, linewidth=1.2)
            if printed:
                _print_value(axes, theme, place, max([height, *(ends or ())]), text, horizontal)
    (axes.set_yticks if horizontal else axes.set_xticks)(range(len(labels)), labels)
    if horizontal:
        axes.invert_yaxis()
    if len(groups) > 1:
        axes.legend()
    axes.grid(visible=False, axis="y" if horizontal else "x")


def _swapped(x: list[float], y: list[float], horizontal: bool) -> tuple[list[float], list[float]]:
    return (y, x) if horizontal else (x, y)


def _print_value(axes: Axes, theme: Theme, place: float, end: float, text: str, horizontal: bool) -> None:
    at = (end, place) if horizontal else (place, end)
    away = (3, 0) if horizontal else (0, 2)
    align: dict[str, Any] = {"va": "center", "ha": "left"} if horizontal else {"va": "bottom", "ha": "center"}
    axes.annotate(text, at, away, textcoords="offset points", fontsize=8, color=theme.ink, **align)


def heat(
    axes: Axes,
    theme: Theme,
    matrix: Sequence[Sequence[float | None]],
    *,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    most: float | None = None,
    form: str = ".2f",
    printed: bool = False,
) -> None:
    """A matrix, row 0 on top: 0 is paper, `most` (default: the largest) is full colour; below 0 it is vermilion.

    `rows` and `columns` are tokens or names beside it. None is a cell that does not exist (masked): hatched.
    """
    numbers = [[0.0 if value is None else float(value) for value in row] for row in matrix]
    largest = most if most is not None else max((abs(value) for row in numbers for value in row), default=1.0)
    height, width = len(numbers), len(numbers[0])
    if height * width > MOST_CELLS:
        axes.imshow(_image(theme, numbers, largest or 1.0), aspect="auto", interpolation="nearest")
    else:
        _cells(axes, theme, matrix, largest or 1.0, rows, columns, form, printed and height * width <= MOST_NUMBERS)
        axes.set_xlim(-0.5, width - 0.5)
        axes.set_ylim(height - 0.5, -0.5)
    if columns is not None:
        axes.set_xticks(
            range(width),
            columns,
            rotation=45 if max(map(len, columns)) > 3 else 0,
            ha="right" if max(map(len, columns)) > 3 else "center",
        )
        axes.tick_params(axis="x", length=0)
    if rows is not None:
        axes.set_yticks(range(height), rows)
        axes.tick_params(axis="y", length=0)
    axes.grid(visible=False)


def _cells(
    axes: Axes,
    theme: Theme,
    matrix: Sequence[Sequence[float | None]],
    largest: float,
    rows: Sequence[str] | None,
    columns: Sequence[str] | None,
    form: str,
    printed: bool,
) -> None:
    """Each cell by itself, with its value under the pointer."""
    from matplotlib.patches import Rectangle

    for i, row in enumerate(matrix):
        for j, value in enumerate(row):
            where = f"{rows[i] if rows else i} → {columns[j] if columns else j}"
            if value is None:
                cell = Rectangle(
                    (j - 0.5, i - 0.5), 1, 1, facecolor="none", edgecolor=theme.muted, hatch="////", linewidth=0
                )
                hover(cell, f"{where}: ×")
            else:
                colour = theme.blue if value >= 0 else theme.vermilion
                alpha = min(1.0, abs(value) / largest)
                cell = Rectangle((j - 0.5, i - 0.5), 1, 1, facecolor=(colour, alpha), linewidth=0)
                hover(cell, f"{where}: {value:{form}}")
                if printed:
                    axes.text(j, i, f"{value:{form}}", ha="center", va="center", fontsize=8, color=theme.ink)
            axes.add_patch(cell)


def _image(theme: Theme, numbers: list[list[float]], largest: float) -> Any:
    import numpy as np
    from matplotlib.colors import to_rgb

    values = np.asarray(numbers, dtype=float)
    picture = np.zeros((*values.shape, 4))
    picture[..., :3] = np.where(values[..., None] >= 0, to_rgb(theme.blue), to_rgb(theme.vermilion))
    picture[..., 3] = np.clip(np.abs(values) / largest, 0, 1)
    return picture
