"""A forecast as a picture: the past, what the model says, what stands beside it, and which patches were looked at."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

from glassformer.errors import InputError
from glassformer.evaluate.forecast import Forecast, label
from glassformer.fonts import hangul_font
from glassformer.runs.files import TEMPORARY, disk
from glassformer.train.pictures import BLUE, GREEN, GREY, ORANGE, VERMILION, style
from glassformer.words import language, say

PURPLE = "#CC79A7"
COLOURS = {"model": VERMILION, "persistence": GREY, "dlinear": GREEN, "nlinear": PURPLE}
LINES = {"model": "-", "persistence": ":", "dlinear": "--", "nlinear": "-."}
KINDS = (".png", ".svg")


def check_picture(path: Path) -> None:
    """Before anything is computed: can it be drawn into this file?"""
    if path.suffix.lower() not in KINDS:
        raise InputError("picture_kind", path=path)


def draw_forecast(found: Forecast, path: Path) -> None:
    """The whole file or the old one. Korean labels where there is a font for them."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.dates import AutoDateLocator
    from matplotlib.figure import Figure

    check_picture(path)
    font = hangul_font() if language() == "ko" else None
    lang = "ko" if font else "en"
    image = BytesIO()
    with rc_context(style(font)):
        figure = Figure(figsize=(9, 5.5))
        FigureCanvasAgg(figure)
        margins = {"left": 0.1, "right": 0.97, "bottom": 0.1, "top": 0.93, "hspace": 0.45}
        above, below = figure.subplots(2, 1, height_ratios=[3, 1], gridspec_kw=margins)
        joined = [found.past.moments[-1], *found.moments]
        above.plot(found.past.moments, found.past.values, color=BLUE, label=say("forecast.history", lang))
        for name, values in found.said.items():
            line = [found.past.values[-1], *values]
            above.plot(joined, line, color=COLOURS[name], linestyle=LINES[name], label=label(name, lang))
        if _plain(found.past.name, font):
            above.set_title(say("forecast.of_series", lang, series=found.past.name))
        above.xaxis.set_major_locator(AutoDateLocator(maxticks=7))
        above.legend(loc="best")
        starts = range(len(found.patches))
        below.bar(starts, [100 * patch.share for patch in found.patches], color=ORANGE)
        below.set_title(say("forecast.patches", lang))
        below.set_ylabel("%")
        below.xaxis.get_major_locator().set_params(integer=True)
        figure.savefig(image, format=path.suffix.lower()[1:], dpi=110)
    draft = path.with_name(TEMPORARY + path.name)
    with disk(path):
        try:
            draft.write_bytes(image.getvalue())
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)


def _plain(name: str, font: str | None) -> bool:
    """Whether a name can be drawn: Hangul only with a font for it; a `$` would begin a formula."""
    return "$" not in name and (font is not None or name.isascii())
