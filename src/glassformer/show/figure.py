"""Finishes a figure and writes it: as an SVG coloured by the page's style sheet, or as a PNG."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from io import BytesIO, StringIO
from typing import TYPE_CHECKING, Any

from glassformer.show.drawing import BAR, BREAK, LONG, MARK, TINT
from glassformer.show.signs import typeset
from glassformer.show.theme import LIGHT, Theme, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backend_bases import FigureCanvasBase
    from matplotlib.figure import Figure

_HEAD = re.compile(r"^.*?(?=<svg)", re.DOTALL)
_METADATA = re.compile(r"\s*<metadata>.*?</metadata>", re.DOTALL)
_MARKED = re.compile(r"<g id=([\"'])" + MARK + r"(.*?)\1>")  # matplotlib writes 'a "b"' if a text has a quote
_TINTED = re.compile(rf'<a xlink:href="{TINT}(\w+)"[^>]*>(.*?)</a>', re.DOTALL)
_SIZE = re.compile(r'<svg ([^>]*?)\bwidth="[^"]*"([^>]*?)\bheight="[^"]*"')
_HEIGHT_FIRST = re.compile(r'<svg ([^>]*?)\bheight="[^"]*"([^>]*?)\bwidth="[^"]*"')

_PLACES = re.compile(r' (?:d|points|x|y|x1|x2|y1|y2|width|height)="[^"]*"| transform="rotate\([^"]*"')
_FONT = re.compile(r"font-family: [^;\"]+")  # the font that the layout was computed with
_VARIABLE = re.compile(r"var\(--\w+, ([^()]+)\)")
_DIGITS = re.compile(r"(\.\d\d)\d+")  # a hundredth of a point is finer than any screen
DOTS = 130  # of a PNG, per inch
FAR = 0.02  # share of the highest number: an axis that begins above it begins far from 0


def finish(figure: Figure) -> Figure:
    """Finishing touches for every figure, so that no drawing has to add them."""
    from matplotlib.axes import Axes
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        text.set_text(typeset(text.get_text()))
    for axes in figure.findobj(Axes):
        assert isinstance(axes, Axes)
        _part_thousands(axes)
        if begins_high(axes):
            _break(axes)
    return figure


def begins_high(axes: Axes) -> bool:
    """Whether a reader may mistake the lower edge for 0: in curves over numbers, not in rows of a table."""
    low, high = axes.get_ylim()
    numbered = axes.axison and len(axes.get_yticks()) > 1 and axes.get_yscale() == "linear"
    return numbered and bool(axes.lines) and axes.get_label() != BAR and low > FAR * high > 0


def _break(axes: Axes) -> None:
    """Two strokes across the foot of the axis."""
    from matplotlib.lines import Line2D

    stroke: Any = [(-1, -0.45), (1, 0.45)]
    line = Line2D([0, 0], [0.035, 0.06], linestyle="none", marker=stroke, markersize=9)
    colour = axes.spines["left"].get_edgecolor()
    line.set(transform=axes.transAxes, clip_on=False, label=BREAK, color=colour, markeredgewidth=1.3)
    axes.add_line(line)


def _part_thousands(axes: Axes) -> None:
    """Commas, as in 10,000, if an axis reaches that far; shorter numbers need none."""
    from matplotlib.ticker import ScalarFormatter

    for axis in (axes.xaxis, axes.yaxis):
        if isinstance(axis.get_major_formatter(), ScalarFormatter) and max(map(abs, axis.get_view_interval())) >= LONG:
            axis.set_major_formatter("{x:,.10g}")


def as_svg(figure: Figure, name: str, lang: str, alternative: str, theme: Theme = LIGHT) -> str:
    """SVG to embed in a page. `name` keeps the ids of several pictures apart; `alternative` is the alt text."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    text = StringIO()
    with styled(theme, lang), _laid_out(FigureCanvasSVG(figure), FigureCanvasSVG.fixed_dpi):
        figure.savefig(text, format="svg", metadata={"Date": None}, facecolor="none")
    svg = _METADATA.sub("", _HEAD.sub("", text.getvalue()))
    svg = _MARKED.sub(lambda found: f'<g class="hover"><title>{found[2]}</title>', svg)
    svg = _PLACES.sub(lambda found: _DIGITS.sub(r"\1", found[0]), svg)
    for pattern, made in ((r' id="', f' id="{name}-'), (r"url\(#", f"url(#{name}-"), (r'href="#', f'href="#{name}-')):
        svg = re.sub(pattern, made, svg)
    svg = _FONT.sub(r"\g<0>, var(--sans, sans-serif)", svg)  # if it is missing, the page's font
    svg = _tinted(svg, name, theme.colours)
    for role, colour in theme.colours.items():
        svg = re.sub(re.escape(colour), f"var(--{role}, {colour})", svg, flags=re.IGNORECASE)
    for size in (_SIZE, _HEIGHT_FIRST):
        svg = size.sub(r"<svg \1\2", svg)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(alternative)}" ', 1)


def standalone(svg: str, theme: Theme) -> str:
    """The SVG of a page as a file of its own: colours in place of variables, on the theme's paper."""
    return _VARIABLE.sub(r"\1", svg).replace("<svg ", f'<svg style="background:{theme.paper}" ', 1)


def _tinted(svg: str, name: str, colours: dict[str, str]) -> str:
    """Raster images cannot use CSS variables: a filter gives their opaque parts the colour of a role."""
    for role in dict.fromkeys(role for role, _ in _TINTED.findall(svg)):
        flood = f'<feFlood style="flood-color: {colours[role]}"/><feComposite in2="SourceAlpha" operator="in"/>'
        made = f'<filter id="{name}-tint-{role}" color-interpolation-filters="sRGB">{flood}</filter>'
        svg = svg.replace("<defs>", f"<defs>{made}", 1)
    return _TINTED.sub(lambda found: f'<g filter="url(#{name}-tint-{found[1]})">{found[2]}</g>', svg)


def as_png(figure: Figure, lang: str, theme: Theme = LIGHT, dpi: int = DOTS) -> bytes:
    """PNG, for Markdown and other uses."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    image = BytesIO()
    with styled(theme, lang), _laid_out(FigureCanvasAgg(figure), dpi):
        figure.savefig(image, format="png", dpi=dpi)
    return image.getvalue()


@contextmanager
def _laid_out(canvas: FigureCanvasBase, dpi: int) -> Iterator[None]:
    """Everything in its place for this canvas, before the figure is written.

    `savefig` would lay it out by drawing it twice, the first time without ink: a quarter of all the work.
    """
    from matplotlib import rc_context

    figure = canvas.figure
    engine, before = figure.get_layout_engine(), figure.dpi
    if engine is None:  # margins by hand
        yield
        return
    figure.dpi = dpi
    engine.execute(figure)
    figure.dpi = before
    with rc_context({"figure.constrained_layout.use": False}):
        figure.set_layout_engine(None)
    try:
        yield
    finally:
        figure.set_layout_engine(engine)
