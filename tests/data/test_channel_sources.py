from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glassformer.config.values import Choice
from glassformer.data import channel_sources
from glassformer.data.channel_sources import channels
from glassformer.errors import ConfigError, InputError
from shared_data import need
from small_forecaster import hours, written

PACKAGE = importlib.util.find_spec("bokeh_sampledata")


@pytest.mark.skipif(PACKAGE is None, reason="the extra `prices` is not installed")
def test_the_default_is_real_prices_adjusted() -> None:
    found = {channel.name: channel for channel in channels(Choice("prices"))}
    assert {name: len(each) for name, each in found.items()} == {"AAPL": 3270, "GOOG": 2148, "IBM": 3270, "MSFT": 3270}
    assert found["AAPL"].values[0] == 4.186662803811
    returns = np.diff(np.log(found["AAPL"].values))
    assert np.abs(returns).max() < 0.8  # a split of 2 for 1 would be a fall by half in a day, several times
    with pytest.raises(
        ConfigError, match=r"data.source.tickers='TSLA' is unknown; use one of: AAPL, FB, GOOG, IBM, MSFT"
    ):
        channels(Choice("prices", {"tickers": ["TSLA"]}))


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel_sources, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"bokeh_sampledata is not installed; install glassformer\[prices\], or give"):
        channels(Choice("prices"))


@pytest.mark.slow
def test_the_catalogue_has_channels_and_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    need(monkeypatch, "ett")
    found = channels(Choice("catalogue", {"name": "ett", "part": "ETTh1"}))
    assert [each.name for each in found] == ["HUFL", "HULL", "MUFL", "MULL", "LUFL", "LULL", "OT"]
    assert {len(each) for each in found} == {17_420}
    need(monkeypatch, "stocks-daily")
    shares = channels(Choice("catalogue", {"name": "stocks-daily", "part": "2015-2017", "tickers": ["AAPL", "TSLA"]}))
    assert {each.name: len(each) for each in shares} == {"AAPL": 753, "TSLA": 754}
    with pytest.raises(InputError, match="multi30k holds parallel, and series, prices is wanted"):
        channels(Choice("catalogue", {"name": "multi30k", "part": "train"}))


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = str(written(tmp_path, hours(5)))
    assert channels(Choice("csv", {"path": path, "date": "date", "columns": "load"}))[0].values[3] == 3.5


def test_waves_are_the_same_again() -> None:
    one, other = (channels(Choice("waves", {"count": 50, "noise": 0.0}))[0] for _ in range(2))
    assert one.values.tolist() == other.values.tolist() and len(one) == 50
    np.testing.assert_allclose(one.values[6], 1 + 0.5 * np.sin(2 * np.pi * 6 / 168))


def test_seasons_have_a_day_a_week_and_a_trend() -> None:
    one, other = (channels(Choice("seasons", {"count": 1008, "noise": 0.0, "series": 3})) for _ in range(2))
    assert [each.name for each in one] == ["season 1", "season 2", "season 3"] and len(one[0]) == 1008
    for a, b in zip(one, other, strict=True):
        assert a.values.tolist() == b.values.tolist()
        weeks = a.values.reshape(6, 7, 24)
        slope = weeks[1, 0, 0] - weeks[0, 0, 0]
        np.testing.assert_allclose(weeks[1] - weeks[0], slope, atol=1e-12)  # a week later, only the trend has moved
        day = weeks - slope / 168 * np.arange(1008).reshape(6, 7, 24)
        np.testing.assert_allclose(day[0, 0], day[0, 4], atol=1e-9)
        assert 0.2 <= np.ptp(day[0, 5]) / np.ptp(day[0, 0]) <= 0.8  # a weekend is a smaller day
    assert channels(Choice("seasons", {"seed": 1}))[0].values[0] != channels(Choice("seasons"))[0].values[0]


@pytest.mark.parametrize(
    ("kind", "options", "line"),
    [
        ("nothing", {}, "data.source='nothing' is unknown; use one of: prices, csv, catalogue, waves, seasons"),
        ("waves", {"counts": 5}, "data.source.counts: 'waves' has no such option; did you mean count?"),
        ("csv", {}, "data.source='csv' needs the option path"),
        ("csv", {"path": "x", "columns": []}, "data.source.columns=[] is of the wrong type"),
        ("prices", {"tickers": ["IBM", "IBM"]}, "data.source.tickers names 'IBM' twice; name each once"),
        ("waves", {"noise": -1}, "data.source.noise=-1 "),
    ],
)
def test_wrong_options_are_refused(kind: str, options: dict[str, Any], line: str) -> None:
    with pytest.raises(ConfigError) as caught:
        channels(Choice(kind, options))
    assert str(caught.value).startswith(line)
