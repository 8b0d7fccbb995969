from __future__ import annotations

from typing import Any

import pytest
from matplotlib.axes import Axes

from glassformer.lessons.drawing import MOST_CELLS, MOST_POINTS, bars, heat, lines, logarithmic
from glassformer.lessons.hover import MARK
from glassformer.lessons.theme import LIGHT


@pytest.fixture
def axes() -> Axes:
    return LIGHT.figure(4, 3).subplots()


def values(axes: Axes) -> list[str]:
    """What shows itself under the pointer."""
    marked: list[Any] = [artist.get_gid() for artist in axes.get_children()]
    return [gid.removeprefix(MARK) for gid in marked if gid and gid.startswith(MARK)]


def test_every_point_of_a_curve_shows_its_value(axes: Axes) -> None:
    lines(axes, LIGHT, [1, 2], {"a": [0.5, None]}, spread={"a": [(0.4, 0.6), (0.1, 0.2)]})
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
    groups = {"one": [1.0, None], "two": [2.0, 3.0]}
    bars(axes, LIGHT, ["a", "b"], groups, spread={"two": [(1.5, 2.5), (2.0, 4.0)]}, horizontal=horizontal)
    assert values(axes) == ["a · one: 1", "b · one: –", "a · two: 2", "b · two: 3"]
    assert [text.get_text() for text in axes.texts] == ["1", "–", "2", "3"]
    ends = [line.get_xdata() if horizontal else line.get_ydata() for line in axes.lines]
    assert [list(end) for end in ends] == [[1.5, 2.5], [2.0, 4.0]]


def test_a_cell_of_a_matrix_says_from_where_to_where(axes: Axes) -> None:
    heat(axes, LIGHT, [[1.0, None], [-0.5, 0.0]], rows=["r0", "r1"], columns=["c0", "c1"], printed=True)
    assert values(axes) == ["r0 → c0: 1.00", "r0 → c1: ×", "r1 → c0: -0.50", "r1 → c1: 0.00"]
    assert [text.get_text() for text in axes.texts] == ["1.00", "-0.50", "0.00"]
    full, _, half, none = (patch.get_facecolor()[3] for patch in axes.patches)
    assert (full, half, none) == (1.0, 0.5, 0.0)


def test_a_large_matrix_is_an_image(axes: Axes) -> None:
    side = int(MOST_CELLS**0.5) + 1
    heat(axes, LIGHT, [[0.5] * side] * side)
    assert values(axes) == [] and len(axes.images) == 1
