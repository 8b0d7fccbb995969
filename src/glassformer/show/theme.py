"""How all pictures look: colours that everybody can tell apart, for light and dark pages and files; a Hangul font."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from glassformer.errors import warn
from glassformer.fonts import hangul_font

if TYPE_CHECKING:
    from matplotlib.figure import Figure


MISSING = re.compile(r"Glyph .* missing from font")
OWN = "DejaVu Sans"  # the font that comes with matplotlib
SHARED: dict[str, Any] = {
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "legend.frameon": False,
}


def families(lang: str) -> list[str]:
    """The fonts of a picture. In English the Hangul font comes second, for Korean example sentences."""
    hangul = [font] if (font := hangul_font()) else []
    return [*hangul, OWN] if lang == "ko" else [OWN, *hangul]


@dataclass(frozen=True)
class Theme:
    """Colours by their role. The series are those of Okabe and Ito (2008), safe for colour-blind readers.

    In a web page each of them becomes a variable of the style sheet, so one drawing serves light and dark.
    """

    name: str
    ink: str  # text and axes
    paper: str
    muted: str  # second lines, ticks
    grid: str
    blue: str
    orange: str
    green: str
    vermilion: str
    purple: str
    sky: str
    heat: str  # the full colour of a heat map; ink is readable on it and on all paler cells
    below: str  # the same for numbers below 0
    grey: str = ""  # replaces purple in a series outside a page, where purple has no meaning

    @property
    def series(self) -> tuple[str, ...]:
        """The colours of series, in order of use."""
        return (self.blue, self.vermilion, self.green, self.orange, self.grey or self.purple, self.sky)

    @property
    def lines(self) -> tuple[str, ...]:
        """A line pattern for each colour, for printing in grey."""
        return ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))  # type: ignore[return-value]

    @property
    def markers(self) -> tuple[str, ...]:
        return ("o", "s", "^", "D", "v", "P")

    @property
    def colours(self) -> dict[str, str]:
        """Name → colour, for code that turns colours into variables."""
        return {name: value for name, value in vars(self).items() if name not in ("name", "grey")}

    def style(self, lang: str) -> Any:
        """matplotlib's settings on a page. Titles are never bold: a Hangul font without bold would cause a warning."""
        return {
            **SHARED,
            "font.family": families(lang),
            "text.color": self.ink,
            "axes.titleweight": "normal",
            "axes.titlecolor": self.ink,
            "axes.labelcolor": self.ink,
            "axes.edgecolor": self.muted,
            "axes.facecolor": "none",
            "axes.unicode_minus": True,
            "grid.color": self.grid,
            "grid.linewidth": 0.8,
            "xtick.color": self.muted,
            "ytick.color": self.muted,
            "lines.linewidth": 1.8,
            "figure.facecolor": self.paper,
            "figure.constrained_layout.use": True,
            "image.composite_image": False,  # each image keeps its own tint
            "svg.fonttype": "none",
            "svg.hashsalt": "glassformer",
        }

    def style_of_file(self, lang: str) -> Any:
        """matplotlib's settings for a picture in the folder of a run; bold titles where no Hangul font is needed."""
        bold = {} if hangul_font() else {"axes.titleweight": "bold"}
        return {**SHARED, "grid.color": self.grid, "font.family": families(lang), **bold}

    def figure(self, width: float = 9.0, height: float = 4.5) -> Figure:
        """An empty figure without pyplot, which would keep it alive; sizes in inches, at most 10 wide."""
        from matplotlib.figure import Figure

        return Figure(figsize=(width, height), layout="constrained")


LIGHT = Theme(
    name="light",
    ink="#1b1f24",
    paper="#fffffe",
    muted="#59636e",
    grid="#e4e7eb",
    blue="#0072b2",
    orange="#c98a00",
    green="#007f5f",
    vermilion="#d55e00",
    purple="#a8508a",
    sky="#3f9bd1",
    heat="#3b94cd",
    below="#dd7222",
)
DARK = Theme(
    name="dark",
    ink="#e6e9ed",
    paper="#14181d",
    muted="#a3adb8",
    grid="#2d343c",
    blue="#58b0e8",
    orange="#f0b429",
    green="#3dc9a0",
    vermilion="#ff8f4d",
    purple="#e29ac9",
    sky="#9ad4f5",
    heat="#1d6a9e",
    below="#9c4d1c",
)
THEMES = {"light": LIGHT, "dark": DARK}  # for a page
FILE_THEME = Theme(  # for a picture in a file: the colours of Okabe and Ito, on white
    name="file",
    ink="#1B1F24",
    paper="#FFFFFF",
    muted="#59636E",
    grid="#E6E6E6",
    blue="#0072B2",
    orange="#E69F00",
    green="#009E73",
    vermilion="#D55E00",
    purple="#CC79A7",
    sky="#56B4E9",
    heat="#0072B2",
    below="#D55E00",
    grey="#767676",
)


@contextmanager
def styled(theme: Theme, lang: str) -> Iterator[None]:
    """matplotlib under a theme, without its chatter: on fonts that have no bold, and on each letter that no font has.

    A warning said once replaces the latter. On a page where no font has Hangul the command line has said so already.
    """
    from matplotlib import rc_context

    settings = theme.style_of_file(lang) if theme is FILE_THEME else theme.style(lang)
    fonts = logging.getLogger("matplotlib.font_manager")
    before = fonts.level
    fonts.setLevel(logging.ERROR)
    try:
        with rc_context(settings), warnings.catch_warnings(record=True) as heard:
            warnings.filterwarnings("ignore", message="Creating legend with loc")  # said on slow machines only
            warnings.filterwarnings("always", message=MISSING.pattern)
            yield
    finally:
        fonts.setLevel(before)
    letters = [each for each in heard if MISSING.match(str(each.message))]
    for other in (each for each in heard if each not in letters):
        warnings.warn_explicit(other.message, other.category, other.filename, other.lineno)
    if letters and (theme is FILE_THEME or hangul_font() is not None):
        _warn_of_letters()


@cache
def _warn_of_letters() -> None:
    """Once, however often a run is drawn."""
    warn("letters_missing")
