"""Where the series of a forecaster come from: real prices by default, your own CSV, the catalogue, or generated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from glassformer.config.options import Option, Schema, check_choice
from glassformer.config.values import Choice, ValueRule, not_negative, size_or_zero, wrong_type
from glassformer.data.channel import Channel, SeriesForm, find_column, read_channels, sign_of
from glassformer.data.corpus import source_options
from glassformer.data.find import dataset, find, find_split
from glassformer.data.formats import Series, csv_rows
from glassformer.data.moments import check_order, read_moments
from glassformer.data.read import prices as catalogue_prices
from glassformer.data.table import delimiter_of
from glassformer.errors import ConfigError, FileError, InputError, choose, shown

SHARES = ("AAPL", "GOOG", "IBM", "MSFT")  # of the five in the package; FB has only 196 days
ADJUSTED = "adj_close"  # without splits and dividends: else a split looks like a crash
SPLIT = "split"  # not an option of the readers: see `data/panel.py`


def channels(source: Choice) -> list[Channel]:
    """All channels of a source, each at its full length."""
    read = choose("data.source", source.kind, SOURCES)
    options = check_choice("data.source", source, CHANNELS_OPTIONS[source.kind])
    return read(**{name: value for name, value in options.items() if name != SPLIT})


def from_prices(*, tickers: Sequence[str] = SHARES) -> list[Channel]:
    """Adjusted closing prices of American shares, 2000 to 2013, from the package `bokeh_sampledata`."""
    package = find_spec("bokeh_sampledata")
    if package is None or not package.submodule_search_locations:
        raise InputError("extra_missing", package="bokeh_sampledata", extra="prices")
    path = Path(package.submodule_search_locations[0]) / "_data" / "stocks.csv.gz"
    (_, header), *rows = csv_rows(path)
    share, date, close = (find_column(path, header, name) for name in ("Ticker", "Date", "Adj Close"))
    by_share: dict[str, list[tuple[int, list[str]]]] = {}
    for line, row in rows:
        by_share.setdefault(row[share], []).append((line, row))
    found = []
    for ticker in tickers:
        some = choose("data.source.tickers", ticker, by_share)
        lines = [line for line, _ in some]
        moments = read_moments([row[date] for _, row in some], lines, path)
        check_order(moments, lines, path)
        found.append(Channel(ticker, moments, np.array([float(row[close]) for _, row in some])))
    return found


def from_catalogue(*, name: str, part: str, columns: Sequence[str] = (), tickers: Sequence[str] = ()) -> list[Channel]:
    """A part of a set: the channels of "ett", "ETTh1", or the adjusted prices of "stocks-daily", "2000-2013"."""
    known = dataset(name)
    if known.format == "prices":
        shares = catalogue_prices(name, part)
        return [_adjusted(ticker, choose("data.source.tickers", ticker, shares)) for ticker in tickers or shares]
    if known.format != "series":
        raise InputError("data_wrong_format", name=name, format=known.format, wanted="series, prices")
    return read_channels(find(name, find_split(name, part).files[0]), SeriesForm(columns=columns))


def _adjusted(ticker: str, series: Series) -> Channel:
    lines = range(2, 2 + len(series))
    moments = read_moments(series.dates, lines, ticker)
    check_order(moments, lines, ticker)
    return Channel(ticker, moments, series.values[:, series.channels.index(ADJUSTED)])


def from_csv(
    *,
    path: str,
    date: str = "",
    columns: Sequence[str] = (),
    gaps: bool = False,
    delimiter: str = "",
    header: bool | None = None,
    decimal: str = "",
) -> list[Channel]:
    """Your own file."""
    return read_channels(path, SeriesForm(date, columns, gaps, delimiter, header, decimal))


def series_form(options: Mapping[str, Any]) -> SeriesForm:
    """The options of a recipe for its CSV, checked; without the path and the split."""
    given = {each.name: options[each.name] for each in fields(SeriesForm) if each.name in options}
    schema = CHANNELS_OPTIONS["csv"]
    return SeriesForm(**{name: schema[name].check(f"data.source.{name}", value) for name, value in given.items()})


def from_waves(*, count: int = 2000, noise: float = 0.1, seed: int = 0) -> list[Channel]:
    r"""A series that can be forecast, to test a forecaster: hours with a daily and a weekly cycle.

    y_t = sin(2πt/24) + ½ sin(2πt/168) + noise · ε_t,     ε_t normal
    """
    t = np.arange(count)
    values = np.sin(2 * np.pi * t / 24) + 0.5 * np.sin(2 * np.pi * t / 168)
    values += noise * np.random.default_rng(seed).standard_normal(count)
    return [Channel("waves", np.datetime64("2024-01-01T00:00:00", "s") + t * np.timedelta64(3600, "s"), values)]


def from_seasons(*, count: int = 8760, series: int = 8, noise: float = 0.3, seed: int = 0) -> list[Channel]:
    r"""Hours as they are counted of electricity, traffic or visitors, each series with a form of its own.

        y_t = (1 − w · [t is on a weekend]) · Σₖ₌₁³ aₖ sin(2πk t/24 + φₖ) + b · t/count + noise · ε_t,     ε_t normal

    The weekend damps the day (w in 0.2 … 0.8) instead of adding to it, so that no linear map of the past is enough.
    """
    t = np.arange(count)
    moments = np.datetime64("2024-01-01T00:00:00", "s") + t * np.timedelta64(3600, "s")  # a Monday
    weekend = t // 24 % 7 >= 5
    found = []
    for number, random in enumerate(np.random.default_rng(seed).spawn(series), 1):
        heights, phases = random.uniform(0.2, 1, 3) / np.arange(1, 4), random.uniform(0, 2 * np.pi, 3)
        day = sum(
            a * np.sin(2 * np.pi * k * t / 24 + phi) for k, (a, phi) in enumerate(zip(heights, phases, strict=True), 1)
        )
        values = (1 - random.uniform(0.2, 0.8) * weekend) * day + random.uniform(-2, 2) * t / count
        found.append(Channel(f"season {number}", moments, values + noise * random.standard_normal(count)))
    return found


SOURCES: dict[str, Callable[..., list[Channel]]] = {
    "prices": from_prices,
    "csv": from_csv,
    "catalogue": from_catalogue,
    "waves": from_waves,
    "seasons": from_seasons,
}


def _names(key: str, value: object) -> list[str]:
    """One name, or several, each once."""
    every = [value] if isinstance(value, str) else value
    if not isinstance(every, list | tuple) or not every or not all(isinstance(each, str) for each in every):
        raise wrong_type(key, value, "names")
    if len(set(every)) < len(every):
        raise ConfigError("named_twice", key=key, value=next(each for each in every if every.count(each) > 1))
    return list(every)


def check_split(key: str, value: object) -> tuple[float, ...]:
    """Three counts of moments, or three shares whose sum is at most 1."""
    wrong = ConfigError("split_wrong", value=shown(value))
    if not isinstance(value, list | tuple) or len(value) != 3:
        raise wrong
    if any(isinstance(each, bool) or not isinstance(each, int | float) or each < 0 for each in value) or not value[0]:
        raise wrong
    if any(isinstance(each, float) for each in value) and sum(value) > 1 + 1e-9:
        raise wrong
    return tuple(value)


RULES: dict[str, ValueRule] = {
    "tickers": _names,
    "columns": _names,
    "delimiter": delimiter_of,
    "decimal": sign_of,
    "noise": not_negative,
    "seed": size_or_zero,
}
CUT = Option((0.7, 0.1, 0.2), check_split)  # into training, validation and test
CHANNELS_OPTIONS: dict[str, Schema] = {
    kind: {**schema, SPLIT: CUT} for kind, schema in source_options(SOURCES, dict.fromkeys(SOURCES, RULES)).items()
}


def check_constant(channel: Channel, rows: int, where: str | Path) -> None:
    """Raises for a series that never changes: it cannot be scaled, and there is nothing to forecast."""
    if not np.ptp(channel.values[:rows]):
        raise FileError("series_constant", where=where, channel=channel.name, rows=rows, value=channel.values[0])
