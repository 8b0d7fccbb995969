from __future__ import annotations

import logging
import re

import pytest
from matplotlib.figure import Figure

from glassformer.show.drawing import hover
from glassformer.show.figure import as_png, as_svg, begins_high, finish
from glassformer.show.theme import DARK, LIGHT, Theme, styled
from legible import laid_out, texts, unmarked_cuts


def figure(theme: Theme = LIGHT, title: str = "title") -> Figure:
    with styled(theme, "en"):
        made = theme.figure(4, 3)
        axes = made.subplots()
        (mark,) = axes.plot([1 / 3], [2 / 3], color=theme.blue, marker="o")
        hover(mark, 'a "value" <0.333>')
        axes.set_title(title)
    return made


def test_colours_are_variables_with_the_colour_behind_them() -> None:
    for theme in (LIGHT, DARK):
        svg = as_svg(figure(theme), "one", "en", "seen", theme)
        assert f"var(--blue, {theme.blue})" in svg
        assert not [colour for colour in theme.colours.values() if colour in re.sub(r"var\([^)]*\)", "", svg)]


def test_a_mark_is_a_title() -> None:
    svg = as_svg(figure(), "one", "en", "seen")
    assert '<g class="hover"><title>a "value" &lt;0.333&gt;</title>' in svg
    assert "hover:" not in svg


def test_two_pictures_on_a_page_do_not_share_names() -> None:
    first, second = (as_svg(figure(), name, "en", "seen") for name in ("one", "two"))
    names = [set(re.findall(r' id="([^"]+)"', svg)) for svg in (first, second)]
    assert names[0] and not names[0] & names[1]
    for svg, own in zip((first, second), names, strict=True):
        assert set(re.findall(r'(?:url\(#|href="#)([^)"]+)', svg)) <= own


def test_it_has_no_size_of_its_own_and_says_what_is_seen() -> None:
    svg = as_svg(figure(), "one", "en", 'a "picture"')
    head = svg[: svg.index(">")]
    assert head.startswith('<svg role="img" aria-label="a &quot;picture&quot;"')
    assert "viewBox" in head and not re.search(r'\b(width|height)="', head)


def test_places_have_two_digits_and_texts_all_of_theirs() -> None:
    svg = as_svg(figure(title="0.123456"), "one", "en", "seen")
    assert not re.search(r' (?:d|x|y)="[^"]*\.\d{3}', svg)
    assert "0.123456" in svg


def test_a_png() -> None:
    assert as_png(figure(), "en").startswith(b"\x89PNG")


def test_nothing_is_said_about_weights_of_fonts(caplog: pytest.LogCaptureFixture) -> None:
    fonts = logging.getLogger("matplotlib.font_manager")
    with styled(LIGHT, "ko"):
        fonts.warning("no bold")
    assert caplog.records == []
    fonts.warning("afterwards")
    assert [record.message for record in caplog.records] == ["afterwards"]


def test_letters_take_the_room_that_was_measured_for_them() -> None:
    """First the font that matplotlib placed the labels with, so that none runs into the next; then the page's."""
    families = set(re.findall(r'font-family: ([^;"]+)', as_svg(figure(), "one", "en", "seen")))
    assert families and all(family.endswith(", var(--sans, sans-serif)") for family in families)
    assert all(family.startswith("'DejaVu Sans'") or "Nanum" in family for family in families)


def test_a_place_is_no_finer_than_a_screen() -> None:
    """The layout is solved by steps: its last digits differ from one drawing to the next."""
    places = re.findall(r' (?:x|y|transform)="[^"]*"', as_svg(figure(), "one", "en", "seen"))
    assert any("rotate" in place for place in places)
    assert not [place for place in places if re.search(r"\.\d{3}", place)]


def curve(*values: float) -> Figure:
    figure = LIGHT.figure(4, 3)
    figure.subplots().plot(range(len(values)), values)
    return figure


def test_an_axis_that_begins_far_from_0_says_so() -> None:
    figure = curve(2.4, 2.5)
    assert unmarked_cuts(laid_out(figure)) != []
    assert unmarked_cuts(laid_out(finish(figure))) == []


def test_one_that_begins_at_0_says_nothing() -> None:
    figure = curve(0.0, 2.5)
    before = len(figure.axes[0].lines)
    assert not begins_high(figure.axes[0]) and len(finish(figure).axes[0].lines) == before


def test_a_minus_and_thousands() -> None:
    figure = curve(0.0, 25_000.0)
    figure.axes[0].set_title("-3 and 1e-05")
    said = [text.get_text() for text in texts(laid_out(finish(figure)))]
    assert "−3 and 1×10⁻⁵" in said and "10,000" in said
