from __future__ import annotations

from typing import Any

import pytest
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from glassformer.show.drawing import (
    BAR,
    MARK,
    MOST_CELLS,
    MOST_POINTS,
    SHADES,
    bars,
    colour_bar,
    heat,
    hover,
    lines,
    logarithmic,
    pixels,
    power,
)
from glassformer.show.theme import LIGHT, THEMES, Theme, styled
from legible import faint, laid_out, unexplained


@pytest.fixture
def axes() -> Axes:
    return LIGHT.figure(4, 3).subplots()


def values(axes: Axes) -> list[str]:
    """What shows itself under the pointer."""
    marked: list[Any] = [artist.get_gid() for artist in axes.get_children()]
    return [gid.removeprefix(MARK) for gid in marked if gid and gid.startswith(MARK)]


def test_every_point_of_a_curve_shows_its_value(axes: Axes) -> None:
    seen = [{"mean": 0.5, "low": 0.4, "high": 0.6}, {"mean": None, "low": 0.1, "high": 0.2}]
    lines(axes, LIGHT, [1, 2], {"a": seen})
    assert values(axes) == ["a · 1: 0.5"]
    assert axes.get_legend() is not None and len(axes.collections) == 1


def test_many_points_are_a_line(axes: Axes) -> None:
    x = list(range(MOST_POINTS + 1))
    lines(axes, LIGHT, x, {"a": [float(i) for i in x]})
    assert values(axes) == [] and len(axes.lines) == 1


def test_a_scale_of_powers_has_plain_numbers(axes: Axes) -> None:
    axes.plot([1, 8], [1, 1000])
    logarithmic(axes)
    logarithmic(axes, "x", base=2)
    axes.figure.canvas.draw()
    assert "100" in [label.get_text() for label in axes.get_yticklabels()]
    assert "4" in [label.get_text() for label in axes.get_xticklabels()]


@pytest.mark.parametrize("horizontal", [False, True])
def test_bars_have_values_at_their_ends(axes: Axes, horizontal: bool) -> None:
    ends = [{"mean": 2.0, "low": 1.5, "high": 2.5}, {"mean": 3.0, "low": 2.0, "high": 4.0}]
    groups = {"one": [1.0, None], "two": ends}
    bars(axes, LIGHT, ["a", "b"], groups, horizontal=horizontal)
    assert values(axes) == ["a · one: 1", "b · one: –", "a · two: 2", "b · two: 3"]
    assert [text.get_text() for text in axes.texts] == ["1", "–", "2", "3"]
    ends = [line.get_xdata() if horizontal else line.get_ydata() for line in axes.lines]
    assert [list(end) for end in ends] == [[1.5, 2.5], [2.0, 4.0]]


def test_a_cell_of_a_matrix_says_from_where_to_where(axes: Axes) -> None:
    heat(axes, LIGHT, [[1.0, None], [-0.5, 0.0]], rows=["r0", "r1"], columns=["c0", "c1"], printed=True)
    assert values(axes) == ["r0 → c0: 1.00", "r0 → c1: ×", "r1 → c0: −0.50", "r1 → c1: 0.00"]
    assert [text.get_text() for text in axes.texts] == ["1.00", "−0.50", "0.00"]
    full, _, half, none = (patch.get_facecolor()[3] for patch in axes.patches)
    assert (full, half, none) == (1.0, 0.5, 0.0)


def test_a_large_matrix_is_an_image(axes: Axes) -> None:
    side = int(MOST_CELLS**0.5) + 1
    heat(axes, LIGHT, [[0.5] * side] * side)
    assert values(axes) == [] and [image.get_url() for image in axes.images] == ["tint:heat"]


def test_numbers_below_0_are_an_image_of_their_own(axes: Axes) -> None:
    side = int(MOST_CELLS**0.5) + 1
    heat(axes, LIGHT, [[0.5, *([-0.25] * (side - 1))]] * side)
    assert [image.get_url() for image in axes.images] == ["tint:heat", "tint:below"]
    above, below = (image.get_array()[0, :2, 3].tolist() for image in axes.images)
    assert (above, below) == ([1.0, 0.0], [0.0, 0.5])


@pytest.mark.many
@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
@pytest.mark.parametrize("value", [0.0, 0.3, 0.6, 1.0, -0.5, -1.0])
def test_a_number_can_be_read_in_every_cell(value: float, theme: Theme) -> None:
    with styled(theme, "en"):
        figure = theme.figure(4, 3)
        heat(figure.subplots(), theme, [[value, 1.0], [-1.0, 0.0]], printed=True)
    assert faint(laid_out(figure), theme) == []


def test_a_heat_map_has_a_bar_of_its_scale(axes: Axes) -> None:
    heat(axes, LIGHT, [[3.0, -1.0]])
    bar = next(one for one in axes.figure.axes if one.get_label() == BAR)
    assert bar.get_ylim() == (-3.0, 3.0) and len(bar.patches) == SHADES
    assert unexplained(axes.figure) == []


def test_maps_may_share_a_bar() -> None:
    figure = LIGHT.figure(6, 3)
    panels = list(figure.subplots(1, 2))
    for each in panels:
        heat(each, LIGHT, [[0.1, 0.2]], most=1.0, bar=None)
    assert len(unexplained(figure)) == 2
    assert colour_bar(panels, LIGHT, 1.0, label="weight").get_ylabel() == "weight"
    assert unexplained(figure) == []


@pytest.mark.parametrize(
    ("limits", "ticks"), [((1.0, 1e4), ["1", "100", "10,000"]), ((1e-6, 1e6), ["10⁻⁶", "1", "10⁶"])]
)
def test_an_axis_of_powers_has_one_notation(limits: tuple[float, float], ticks: list[str]) -> None:
    middle = (limits[0] * limits[1]) ** 0.5
    said = [power(value, *limits) for value in (limits[0], middle, limits[1])]
    assert said == ticks if limits[1] < 1e5 else [said[0], said[2]] == [ticks[0], ticks[2]] and said[1].startswith("10")


def test_pixels_are_ink_and_need_no_bar(axes: Axes) -> None:
    pixels(axes, LIGHT, [[0.0, 1.0], [0.5, 0.0]])
    assert [patch.get_facecolor()[3] for patch in axes.patches] == [1.0, 0.5]
    assert unexplained(axes.figure) == []


def test_a_mark_is_the_name_of_the_artist() -> None:
    patch = Rectangle((0, 0), 1, 1)
    hover(patch, "0.5")
    assert patch.get_gid() == f"{MARK}0.5"
