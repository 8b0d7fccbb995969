"""How the evaluation of a forecaster looks: methods, series, and a sentence on whether it beats persistence."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from glassformer.metrics.forecasting import Gain
from glassformer.show import Column, Sheet, Table, minus
from glassformer.tasks.result import percent
from glassformer.words import say

if TYPE_CHECKING:
    from glassformer.tasks.forecasting.evaluation import Errors, ForecastEvaluation

COLUMNS = ("mse", "mae", "mase", "direction")


def tables(of: ForecastEvaluation, lang: str | None = None) -> Sheet:
    """All tables of an evaluation, with notes."""
    methods = _table(title(of, lang), say("forecast.method", lang), [*_titles(lang), say("forecast.gain", lang)], lang)
    for cells in rows(of, lang):
        methods.add(*cells)
    if len(of.groups) == 1:
        return Sheet(methods, *notes(of, lang))
    series = _table("", say("forecast.series", lang), _titles(lang), lang)
    for cells in groups(of):
        series.add(*cells)
    return Sheet(methods, series, *notes(of, lang))


def _table(heading: str, first: str, others: list[str], lang: str | None) -> Table:
    return Table(Column(first), *(Column(name, "number") for name in others), title=heading, lang=lang)


def title(of: ForecastEvaluation, lang: str | None) -> str:
    windows = of.forecasts.windows
    context, horizon = windows.sizes
    about = {"windows": f"{len(windows):,}", "context": context, "horizon": horizon}
    return say("forecast.title", lang, run=of.folder.name, split=of.split, checkpoint=of.checkpoint, **about)


def _titles(lang: str | None) -> list[str]:
    return [say(f"forecast.{key}", lang) for key in COLUMNS]


def rows(of: ForecastEvaluation, lang: str | None) -> Iterator[list[str]]:
    """The model first, then the baselines."""
    yield [say("forecast.model", lang), *_cells(of.total), ""]
    for name, errors in of.beside.items():
        cells = _cells(errors)
        cells[-1] = "–" if name == "persistence" else cells[-1]  # it predicts no movement, so it has no direction
        yield [method(of, name, lang), *cells, _gain(of.gains[name])]


def groups(of: ForecastEvaluation) -> Iterator[list[str]]:
    for name, errors in of.groups.items():
        yield [name, *_cells(errors)]


def method(of: ForecastEvaluation, name: str, lang: str | None) -> str:
    """The name of a method for people."""
    baselines = of.forecasts.material.baselines
    ridge = baselines.linear[name].ridge if name in baselines.linear else 0.0
    return say(f"forecast.{name}", lang, season=baselines.season, ridge=ridge)


def _cells(errors: Errors) -> list[str]:
    scaled = "–" if errors.mase is None else f"{errors.mase:.3f}"
    return [f"{errors.mse:.4f}", f"{errors.mae:.4f}", scaled, percent(errors.direction)]


def _gain(found: Gain) -> str:
    if not math.isfinite(found.low):  # too few windows for an interval
        return f"{100 * found.value:.1f}"
    return f"{100 * found.value:.1f} [{100 * found.low:.1f} … {100 * found.high:.1f}]"


def notes(of: ForecastEvaluation, lang: str | None) -> list[str]:
    """First whether it beats persistence and the others, then what the numbers mean."""
    found = [verdict(of, name, lang) for name in of.beside]
    if of.dropped is not None:
        one = of.dropped
        counts = {"batch": one.batch, "missing": one.missing, "windows": one.windows}
        found.append(say("forecast.dropped", lang, **counts, mse=one.errors.mse, mae=one.errors.mae))
    found += [say("forecast.about", lang), say("forecast.interval", lang)]
    return [*found, *of.reading_notes(lang)]


def verdict(of: ForecastEvaluation, name: str, lang: str | None) -> str:
    """One sentence: whether the model beats this method."""
    one = of.gains[name]
    ends = {"low": 100 * one.low, "high": 100 * one.high}
    values = {"gain": 100 * one.value, "loss": -100 * one.value}
    key = one.verdict if math.isfinite(one.low) else "few"
    return minus(say(f"forecast.{key}", lang, method=method(of, name, lang), **values, **ends))
