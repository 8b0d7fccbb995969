"""A forecast as a picture: the past, the forecast, baselines for comparison, and the attention between patches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.errors import InputError
from glassformer.files import write_figure
from glassformer.fonts import hangul_font
from glassformer.show.theme import FILE_THEME, Theme, styled
from glassformer.tasks.forecasting.forecast import Forecast, label
from glassformer.tasks.forecasting.samples import Shown
from glassformer.tasks.samples import KeptAttention
from glassformer.training.panels import PanelWords, attention_map, token_label, tooltip
from glassformer.training.pictures import spoken
from glassformer.words import say

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {
    "model": FILE_THEME.vermilion,
    "persistence": FILE_THEME.grey,
    "dlinear": FILE_THEME.green,
    "nlinear": FILE_THEME.purple,
}
LINES = {"model": "-", "persistence": ":", "dlinear": "--", "nlinear": "-."}
KINDS = (".png", ".svg")


def check_forecast_picture(path: Path) -> None:
    """Check that this file can hold a picture, before anything is computed."""
    if path.suffix.lower() not in KINDS:
        raise InputError("picture_kind", path=path)


def draw_forecast(found: Forecast, path: Path) -> None:
    """Write the whole file, or leave the old one. Labels are Korean only if there is a font."""
    check_forecast_picture(path)
    lang = spoken()
    with styled(FILE_THEME, lang):
        figure = forecast_figure(found, lang, named=_plain(found.past.name, hangul_font()))
        write_figure(path, figure, path.suffix.lower()[1:])


def forecast_figure(found: Forecast, lang: str, named: bool = True) -> Figure:
    """The curve with its patches as brackets, 1 to n, and beside it which patch looks at which."""
    from matplotlib.dates import AutoDateLocator
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.8))
    margins = {"left": 0.07, "right": 0.96, "bottom": 0.12, "top": 0.92, "wspace": 0.22}
    left, right = figure.subplots(1, 2, width_ratios=[2.1, 1], gridspec_kw=margins)
    joined = [found.past.moments[-1], *found.moments]
    left.plot(found.past.moments, found.past.values, color=FILE_THEME.blue, label=say("forecast.history", lang))
    for name, values in found.said.items():
        line = [found.past.values[-1], *values]
        left.plot(joined, line, color=COLOURS[name], linestyle=LINES[name], label=label(name, lang))
    spans = [(patch.first, patch.last) for patch in found.patches]
    brackets(
        left, spans, [*found.past.values, *(value for values in found.said.values() for value in values)], FILE_THEME
    )
    if named:
        left.set_title(say("forecast.of_series", lang, series=found.past.name))
    left.xaxis.set_major_locator(AutoDateLocator(maxticks=6))
    left.legend(loc="upper left", ncols=2, fontsize=9)
    names = [str(number + 1) for number in range(len(found.patches))]
    attention_map(right, KeptAttention("patch_attention", names, names, found.attention.tolist()), FILE_THEME)
    right.set(title=say("forecast.map", lang), xlabel=say("forecast.patch", lang), ylabel=say("forecast.asks", lang))
    return figure


def brackets(axes: Axes, spans: Sequence[tuple[Any, Any]], values: Sequence[float], theme: Theme) -> None:
    """A bracket on the curve for each patch, numbered from 1, in as many rows as are needed to keep them apart."""
    low, high = min(values), max(values)
    step = 0.075 * ((high - low) or 1.0)
    lasts: list[Any] = []
    for number, (first, last) in enumerate(spans):
        row = next((i for i, end in enumerate(lasts) if end < first), len(lasts))
        lasts[row : row + 1] = [last]
        height = low - step * (1.2 + 1.3 * row)
        feet = [height + 0.45 * step, height, height, height + 0.45 * step]
        (bracket,) = axes.plot([first, first, last, last], feet, color=theme.muted, linewidth=1.3)
        tooltip(bracket, str(number + 1), theme)
        middle = first + (last - first) / 2
        axes.text(middle, height + 0.1 * step, str(number + 1), ha="center", va="bottom", fontsize=8, color=theme.ink)
    axes.set_ylim(low - step * (1.6 + 1.3 * len(lasts)), high + 4 * step)


def draw_sample(axes: Axes, sample: Shown, words: PanelWords, theme: Theme) -> None:
    """One window of a run: the past, the true future, the forecast; positions are counted from 1."""
    seen = len(sample.past)
    axes.plot(range(1, seen + 1), sample.past, color=theme.ink, label=words("past"))
    ahead = list(range(seen, seen + len(sample.future) + 1))
    for number, (name, values) in enumerate((("came", sample.future), ("said", sample.said))):
        line = [sample.past[-1], *values]
        pattern = ("-", "--")[number]
        (curve,) = axes.plot(ahead, line, color=theme.series[number], linestyle=pattern, label=words(name))
        tooltip(curve, f"{words(name)}: " + ", ".join(f"{value:.4g}" for value in values), theme)
    spans = [(first + 1, min(first + sample.length, seen)) for first in sample.first]
    brackets(axes, spans, [*sample.past, *sample.future, *sample.said], theme)
    axes.set_title(words("forecast", series=token_label(sample.name)))
    axes.set_xlabel(words("position"))
    axes.legend(loc="upper left", ncols=3, fontsize=9)


def _plain(name: str, font: str | None) -> bool:
    """Whether a name can be drawn: Hangul needs a font, and a `$` would begin a formula."""
    return "$" not in name and (font is not None or name.isascii())
