from __future__ import annotations

from itertools import combinations

import pytest
from matplotlib.colors import to_rgb

from glassformer.show.theme import DARK, LIGHT, THEMES, Theme


def luminance(colour: str) -> float:
    """Of WCAG 2."""
    parts = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(a: str, b: str) -> float:
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_what_is_read_can_be_read(theme: Theme) -> None:
    assert contrast(theme.ink, theme.paper) > 7
    assert contrast(theme.muted, theme.paper) > 4.5
    for colour in theme.series:
        assert contrast(colour, theme.paper) > 2.9, colour


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_a_curve_is_told_by_more_than_its_colour(theme: Theme) -> None:
    assert len(set(map(str, theme.lines))) == len(set(theme.markers)) == len(set(theme.series)) == 6


def test_both_themes_have_the_same_roles() -> None:
    assert list(LIGHT.colours) == list(DARK.colours)
    assert "name" not in LIGHT.colours


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_no_colour_has_two_roles(theme: Theme) -> None:
    """In an SVG a colour becomes the variable of its role."""
    assert not [pair for pair in combinations(theme.colours.values(), 2) if pair[0].lower() == pair[1].lower()]


def test_a_figure_lays_itself_out_in_korean_too() -> None:
    assert LIGHT.figure(4, 3).get_layout_engine() is not None
    assert len(LIGHT.style("ko")["font.family"]) == 2
