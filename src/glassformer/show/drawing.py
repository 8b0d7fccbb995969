"""The kinds of panels in lessons: lines with their spread, bars, heat maps. All of them show values.

Heat maps vary the transparency of one colour, so that a drawing works on light and dark pages; each has a colour bar,
its own or one shared by several.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from glassformer.show.signs import format_value, typeset
from glassformer.show.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_POINTS = 60  # with more points only the line is drawn
MOST_CELLS = 1600  # with more cells an image is drawn, without values under the pointer
MOST_NUMBERS = 100  # with more cells no numbers are printed
PLAIN = (1e-4, 1e5)  # a logarithmic axis within these has plain numbers, any other 10ⁿ: one notation per axis
MAY = 0.45  # opacity of an allowed cell of a mask
SHADES = 16  # blocks in a colour bar
# labels of the parts of a figure, by which other modules find them
HEAT, BAR, BREAK, TINT, MARK = "heat map", "<colorbar>", "_axis break", "tint:", "hover:"
LONG = 10_000  # from here on thousands are separated by commas
Value = float | Mapping[str, Any] | None  # a number, an interval of `statistics`, or None: not finite


def hover(artist: Any, text: str) -> None:
    """Show `text` under the pointer: the SVG turns the mark into a <title>. A PNG shows nothing."""
    artist.set_gid(MARK + typeset(text))


def lines(
    axes: Axes,
    theme: Theme,
    x: Sequence[float],
    curves: Mapping[str, Sequence[Value]],
    *,
    form: str = ".3g",
) -> None:
    """Curves over the same x, each with its own colour, pattern and mark; intervals are drawn as a band."""
    for number, (label, values) in enumerate(curves.items()):
        colour, pattern = theme.series[number % 6], theme.lines[number % 6]
        marker = theme.markers[number % 6] if len(x) <= MOST_POINTS else ""
        numbers = [_middle(value) for value in values]
        axes.plot(x, [_or_gap(number) for number in numbers], color=colour, linestyle=pattern, label=label)
        if any(isinstance(value, Mapping) for value in values):
            low, high = zip(*(map(_or_gap, _ends(value)) for value in values), strict=True)
            axes.fill_between(x, low, high, color=colour, alpha=0.18, linewidth=0)
        if marker:
            for at, value in zip(x, numbers, strict=True):
                if value is not None:
                    (point,) = axes.plot([at], [value], color=colour, marker=marker, markersize=4.5, linestyle="")
                    hover(point, f"{label} · {at:g}: {value:{form}}")
    if any(curves):
        axes.legend()


def _middle(value: Value) -> float | None:
    """The number itself, or the mean of an interval."""
    middle: float | None = value["mean"] if isinstance(value, Mapping) else value
    return middle


def _ends(value: Value) -> tuple[float | None, float | None]:
    return (value["low"], value["high"]) if isinstance(value, Mapping) else (value, value)


def _or_gap(value: float | None) -> float:
    """None → NaN, which leaves a gap in a curve."""
    return float("nan") if value is None else value


def logarithmic(axes: Axes, which: str = "y", base: int = 10) -> None:
    """A logarithmic scale in one notation: plain numbers, or 10ⁿ if they would be long. Call it after drawing."""
    from matplotlib.ticker import LogLocator, NullFormatter

    (axes.set_yscale if which == "y" else axes.set_xscale)("log", base=base)
    axis = axes.yaxis if which == "y" else axes.xaxis
    axis.set_major_locator(LogLocator(base=base, numticks=8))
    axis.set_major_formatter(lambda value, place: power(value, *axis.get_view_interval()))
    axis.set_minor_formatter(NullFormatter())


def power(value: float, low: float, high: float) -> str:
    """A tick between low and high: 0.01, 10,000; or 10⁻⁵, 2×10⁸."""
    if low >= PLAIN[0] / 2 and high <= PLAIN[1]:
        return f"{value:,.10g}" if value >= LONG else f"{value:g}"
    return typeset(f"{value:.0e}").removeprefix("1×")


def bars(
    axes: Axes,
    theme: Theme,
    labels: Sequence[str],
    groups: Mapping[str, Sequence[Value]],
    *,
    form: str = ".3g",
    printed: bool = True,
    horizontal: bool = False,
    colours: Sequence[str] | None = None,
) -> None:
    """A bar for each label and group, its value at its end; an interval is a line across the end of its bar.

    `colours`: one for each label, to match another panel of the picture.
    """
    width = 0.8 / len(groups)
    for number, (group, values) in enumerate(groups.items()):
        for at, value in enumerate(values):
            colour = theme.series[number % 6] if colours is None else colours[at]
            place = at + (number - (len(groups) - 1) / 2) * width
            height = _middle(value) or 0.0
            draw = axes.barh if horizontal else axes.bar
            (bar,) = draw(
                place, height, width * 0.92, color=colour, label=group if at == 0 and len(groups) > 1 else None
            )
            text = format_value(_middle(value), form)
            hover(bar, f"{labels[at]}{' · ' + group if len(groups) > 1 else ''}: {text}")
            ends = [end for end in _ends(value) if end is not None] if isinstance(value, Mapping) else []
            if ends:
                axes.plot(*_swapped([place, place], ends, horizontal), color=theme.ink, linewidth=1.2)
            if printed:
                _print_value(axes, theme, place, max([height, *ends]), text, horizontal)
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
    bar: str | None = "",
) -> None:
    """A matrix, row 0 on top: 0 is paper, `most` (default: the largest) is full colour; below 0 it is orange.

    `rows` and `columns`: tokens or names as labels. None is a masked cell: hatched. `bar`: the label of its colour bar;
    None if `colour_bar` draws one for several maps.
    """
    numbers = [[0.0 if value is None else float(value) for value in row] for row in matrix]
    largest = (most if most is not None else max((abs(value) for row in numbers for value in row), default=1.0)) or 1.0
    height, width = len(numbers), len(numbers[0])
    if height * width > MOST_CELLS:
        _images(axes, theme, numbers, largest)
    else:
        _cells(axes, theme, matrix, largest, rows, columns, form, printed and height * width <= MOST_NUMBERS)
        axes.set_xlim(-0.5, width - 0.5)
        axes.set_ylim(height - 0.5, -0.5)
    if columns is not None:
        tilted = max(map(len, columns)) > 3
        look: dict[str, Any] = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if tilted else {}
        axes.set_xticks(range(width), columns, **look)
        axes.tick_params(axis="x", length=0)
    if rows is not None:
        axes.set_yticks(range(height), rows)
        axes.tick_params(axis="y", length=0)
    axes.grid(visible=False)
    least = -largest if any(value < 0 for row in numbers for value in row) else 0.0
    axes.set_label(f"{HEAT} {least:.4g} {largest:.4g}")
    if bar is not None:
        colour_bar([axes], theme, largest, least=least, label=bar)


def colour_bar(
    panels: Sequence[Axes], theme: Theme, most: float, *, least: float = 0.0, label: str = "", share: bool = False
) -> Axes:
    """A colour bar to the right of heat maps: from `least` (below 0 in the other colour) up to `most`."""
    from matplotlib.colorbar import make_axes
    from matplotlib.patches import Rectangle
    from matplotlib.ticker import MaxNLocator

    made, _ = make_axes(list(panels), location="right", aspect=22, pad=0.02, fraction=0.06)
    axes: Axes = made
    step = (most - least) / SHADES
    for number in range(SHADES):
        value = least + (number + 0.5) * step
        axes.add_artist(
            Rectangle((0, least + number * step), 1, step, facecolor=_shade(theme, value, most), linewidth=0)
        )
    axes.set(xlim=(0, 1), ylim=(least, most), xticks=[])
    axes.yaxis.set_major_locator(MaxNLocator(4))
    axes.yaxis.set_major_formatter("{x:.0%}" if share else "{x:g}")
    axes.yaxis.tick_right()
    axes.yaxis.set_label_position("right")
    axes.tick_params(axis="y", length=2, labelsize=8)
    axes.set_ylabel(label, fontsize=8)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    axes.set_label(BAR)
    return axes


def _shade(theme: Theme, value: float, most: float) -> tuple[str, float]:
    return theme.heat if value >= 0 else theme.below, min(1.0, abs(value) / most)


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
            where = f"{rows[i] if rows else i + 1} → {columns[j] if columns else j + 1}"
            if value is None:
                cell = Rectangle(
                    (j - 0.5, i - 0.5), 1, 1, facecolor="none", edgecolor=theme.muted, hatch="////", linewidth=0
                )
                hover(cell, f"{where}: ×")
            else:
                cell = Rectangle((j - 0.5, i - 0.5), 1, 1, facecolor=_shade(theme, value, largest), linewidth=0)
                hover(cell, f"{where}: {value:{form}}")
                if printed:
                    axes.text(j, i, format_value(value, form), ha="center", va="center", fontsize=8, color=theme.ink)
            axes.add_artist(cell)  # not add_patch, which would fit the axes around cell after cell


def _images(axes: Axes, theme: Theme, numbers: list[list[float]], largest: float) -> None:
    """Two images, above 0 and below 0: in an SVG the page tints each in the colour of its theme."""
    import numpy as np
    from matplotlib.colors import to_rgb

    values = np.asarray(numbers, dtype=float) / largest
    for role, colour, part in (("heat", theme.heat, values), ("below", theme.below, -values)):
        if (part > 0).any():
            picture = np.zeros((*values.shape, 4))
            picture[..., :3] = to_rgb(colour)
            picture[..., 3] = np.clip(part, 0, 1)
            axes.imshow(picture, aspect="auto", interpolation="nearest").set_url(TINT + role)


def mask(
    axes: Axes,
    theme: Theme,
    allowed: Sequence[Sequence[int]],
    *,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
) -> None:
    """Which query may look at which key: a pale colour for yes, hatched for no; `mask_legend` explains them."""
    matrix = [[MAY if may else None for may in row] for row in allowed]
    heat(axes, theme, matrix, rows=rows, columns=columns, most=1.0, bar=None)
    axes.set_label("mask")


def mask_legend(figure: Figure, theme: Theme, may: str, may_not: str) -> None:
    from matplotlib.patches import Patch

    yes = Patch(facecolor=_shade(theme, MAY, 1.0), label=may)
    no = Patch(facecolor="none", edgecolor=theme.muted, hatch="////", linewidth=0, label=may_not)
    figure.legend(handles=[yes, no], loc="outside lower center", ncols=2)


def pixels(axes: Axes, theme: Theme, image: Sequence[Sequence[float]], strength: float = 1.0) -> None:
    """A small greyscale image, 0 … 1, in ink on paper; it is no heat map, so it has no colour bar."""
    from matplotlib.patches import Rectangle

    for i, row in enumerate(image):
        for j, value in enumerate(row):
            if value > 0:
                colour = (theme.ink, strength * min(1.0, value))
                axes.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, facecolor=colour, linewidth=0))
    axes.set(xlim=(-0.5, len(image[0]) - 0.5), ylim=(len(image) - 0.5, -0.5), xticks=[], yticks=[], aspect="equal")
    axes.grid(visible=False)
