"""A figure as SVG for a page: colours become variables of the style sheet, marks become titles, names stay apart."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from io import BytesIO, StringIO
from typing import TYPE_CHECKING

from glassformer.fonts import hangul_font
from glassformer.lessons.drawing import TINT
from glassformer.lessons.finish import finish
from glassformer.lessons.hover import MARK
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.theme import LIGHT, Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_HEAD = re.compile(r"^.*?(?=<svg)", re.DOTALL)
_METADATA = re.compile(r"\s*<metadata>.*?</metadata>", re.DOTALL)
_MARKED = re.compile(r"<g id=([\"'])" + MARK + r"(.*?)\1>")  # matplotlib writes 'a "b"' where a text holds a quote
_TINTED = re.compile(rf'<a xlink:href="{TINT}(\w+)"[^>]*>(.*?)</a>', re.DOTALL)
_SIZE = re.compile(r'<svg ([^>]*?)\bwidth="[^"]*"([^>]*?)\bheight="[^"]*"')
_HEIGHT_FIRST = re.compile(r'<svg ([^>]*?)\bheight="[^"]*"([^>]*?)\bwidth="[^"]*"')

_PLACES = re.compile(r' (?:d|points|x|y|x1|x2|y1|y2|width|height)="[^"]*"| transform="rotate\([^"]*"')
_FONT = re.compile(r"font-family: [^;\"]+")  # the font that the places were computed with
_DIGITS = re.compile(r"(\.\d\d)\d+")  # a hundredth of a point is finer than any screen


@contextmanager
def styled(theme: Theme, lang: str) -> Iterator[None]:
    """matplotlib under a theme. It says of every Hangul font without a bold that it takes another weight: not here.

    Where no font has Hangul it would say so of every letter; the command line says it once.
    """
    from matplotlib import rc_context

    fonts = logging.getLogger("matplotlib.font_manager")
    before = fonts.level
    fonts.setLevel(logging.ERROR)
    try:
        with rc_context(theme.style(lang)), warnings.catch_warnings():  # type: ignore[arg-type]
            warnings.filterwarnings("ignore", message="Creating legend with loc")  # said on slow machines only
            if hangul_font() is None:
                warnings.filterwarnings("ignore", message="Glyph .* missing from font")
            yield
    finally:
        fonts.setLevel(before)


def drawn(lesson: Lesson, data: Data, words: PictureWords, theme: Theme = LIGHT) -> Figure:
    """The figure of a lesson in a theme and a language."""
    with styled(theme, words.lang):
        return finish(lesson.draw(data, theme, words))


def as_svg(figure: Figure, name: str, lang: str, alternative: str, theme: Theme = LIGHT) -> str:
    """Ready to stand inside a page. `name` keeps the ids of several pictures apart, `alternative` says what is seen."""
    text = StringIO()
    with styled(theme, lang):
        figure.savefig(text, format="svg", metadata={"Date": None}, facecolor="none")
    svg = _METADATA.sub("", _HEAD.sub("", text.getvalue()))
    svg = _MARKED.sub(lambda found: f'<g class="hover"><title>{found[2]}</title>', svg)
    svg = _PLACES.sub(lambda found: _DIGITS.sub(r"\1", found[0]), svg)
    for pattern, made in ((r' id="', f' id="{name}-'), (r"url\(#", f"url(#{name}-"), (r'href="#', f'href="#{name}-')):
        svg = re.sub(pattern, made, svg)
    svg = _FONT.sub(r"\g<0>, var(--sans, sans-serif)", svg)  # where it is missing, that of the page
    svg = _tinted(svg, name, theme.colours)
    for role, colour in theme.colours.items():
        svg = re.sub(re.escape(colour), f"var(--{role}, {colour})", svg, flags=re.IGNORECASE)
    for size in (_SIZE, _HEIGHT_FIRST):
        svg = size.sub(r"<svg \1\2", svg)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(alternative)}" ', 1)


def _tinted(svg: str, name: str, colours: dict[str, str]) -> str:
    """Images have no variables: a filter gives what is opaque in them the colour of a role."""
    for role in dict.fromkeys(role for role, _ in _TINTED.findall(svg)):
        flood = f'<feFlood style="flood-color: {colours[role]}"/><feComposite in2="SourceAlpha" operator="in"/>'
        made = f'<filter id="{name}-tint-{role}" color-interpolation-filters="sRGB">{flood}</filter>'
        svg = svg.replace("<defs>", f"<defs>{made}", 1)
    return _TINTED.sub(lambda found: f'<g filter="url(#{name}-tint-{found[1]})">{found[2]}</g>', svg)


def as_png(figure: Figure, lang: str, theme: Theme = LIGHT, dpi: int = 130) -> bytes:
    """For Markdown, and wherever an image is wanted."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    image = BytesIO()
    with styled(theme, lang):
        FigureCanvasAgg(figure)
        figure.savefig(image, format="png", dpi=dpi)
    return image.getvalue()
