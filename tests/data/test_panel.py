from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glassformer.config.values import Choice
from glassformer.data.channel import Channel
from glassformer.data.channel_sources import check_split
from glassformer.data.panel import Panel, Scale, Scaler, panel
from glassformer.errors import ConfigError, FileError, InputError
from shared_data import need
from small_forecaster import channel as made

DAY = np.datetime64("2024-01-01T00:00:00")


def channel(name: str, count: int, late: int = 0) -> Channel:
    return Channel(name, DAY + 86_400 * (late + np.arange(count)), np.arange(count, dtype=np.float64))


def test_all_channels_are_cut_at_the_same_moments() -> None:
    both = Panel((channel("a", 20), channel("b", 14, late=6)), (12, 4, 4))
    assert [both.rows(both.channels[0], part) for part in ("train", "validation", "test")] == [
        (0, 12),
        (12, 16),
        (16, 20),
    ]
    assert [both.rows(both.channels[1], part) for part in ("train", "validation", "test")] == [
        (0, 6),
        (6, 10),
        (10, 14),
    ]


def test_the_future_of_a_window_lies_in_its_part_and_the_past_may_reach_back() -> None:
    one = Panel((channel("a", 20),), (12, 4, 4))
    assert one.starts("train", 3, 2).tolist() == list(range(8))  # the last one ends with row 11
    assert one.starts("validation", 3, 2).tolist() == [9, 10, 11]  # futures from 12 to 15
    assert one.starts("test", 3, 2).tolist() == [13, 14, 15]
    both = Panel((channel("a", 20), channel("b", 20)), (12, 4, 4))
    starts = both.starts("test", 3, 2)
    assert starts.tolist() == [13, 14, 15, 33, 34, 35] and both.channel_of(starts).tolist() == [0, 0, 0, 1, 1, 1]


@pytest.mark.slow
def test_etth1_is_split_as_in_the_literature(monkeypatch: pytest.MonkeyPatch) -> None:
    need(monkeypatch, "ett")
    split = [8640, 2880, 2880]
    whole = panel(Choice("catalogue", {"name": "ett", "part": "ETTh1", "split": split}))
    assert [len(whole.starts(part, 336, 96)) // 7 for part in ("train", "validation", "test")] == [8209, 2785, 2785]
    assert [len(whole.starts("test", 336, horizon)) // 7 % 128 for horizon in (96, 192, 336, 720)] == [97, 1, 113, 113]


def test_shares_are_counted_on_the_common_axis() -> None:
    assert panel(Choice("waves", {"count": 100})).counts == (70, 10, 20)
    assert panel(Choice("waves", {"count": 33, "split": [0.5, 0.25, 0.25]})).counts == (16, 9, 8)
    assert panel(Choice("waves", {"count": 100, "split": [0.5, 0.0, 0.2]})).counts == (50, 0, 20)
    assert panel(Choice("waves", {"count": 100, "split": [60, 0, 10]})).counts == (60, 0, 10)


@pytest.mark.parametrize("value", [[0.7, 0.3], "half", [0.9, 0.1, 0.1], [-1, 2, 3], [True, 1, 1], [0, 5, 5]])
def test_a_wrong_split_is_refused(value: Any) -> None:
    with pytest.raises(ConfigError, match=r"is not a split; give three counts such as \[8640, 2880, 2880\], or three"):
        check_split("data.source.split", value)


def test_a_split_that_asks_for_more_than_there_is() -> None:
    with pytest.raises(ConfigError, match=r"asks for 120 moments, and there are 100; use fewer, or shares"):
        panel(Choice("waves", {"count": 100, "split": [100, 10, 10]}))


def test_two_channels_of_one_name_are_refused(tmp_path: Any) -> None:
    path = tmp_path / "twice.csv"
    path.write_text("date,x,x\n2024-01-01,1,2\n2024-01-02,1,2\n")
    with pytest.raises(ConfigError, match=r"data.source.columns names 'x' twice; name each once"):
        panel(Choice("csv", {"path": str(path)}))


def test_a_series_too_short_to_train_on_is_named() -> None:
    both = Panel((channel("a", 20), channel("b", 9, late=11)), (14, 2, 4))
    both.check_length(2, 1)
    line = r"b has 3 rows before 2024-01-15, and a window takes 3 \+ 2 = 5; give a longer series, leave it out, or use"
    with pytest.raises(InputError, match=line):
        both.check_length(3, 2)


def test_a_scale_is_that_of_the_training_part() -> None:
    values = np.array([1.0, 2.0, 3.0, 100.0, 200.0])
    scaler = Scaler.fit(Panel((made("a", values),), (3, 1, 1)), log=False)
    scale = scaler.scales["a"]
    assert (scale.mean, scale.deviation) == (2.0, pytest.approx(np.sqrt(2 / 3)))
    changed = Scaler.fit(Panel((made("a", np.r_[values[:3], -7.0, 9.0]),), (3, 1, 1)), log=False)
    assert changed == scaler
    np.testing.assert_allclose(scale.restored(scale.scaled(values)), values)


def test_logarithms_make_a_percent_a_percent() -> None:
    scale = Scale(0.0, 1.0, log=True)
    low, high = scale.scaled(np.array([5.0, 5.05])), scale.scaled(np.array([700.0, 707.0]))
    np.testing.assert_allclose(np.diff(low), np.diff(high))
    np.testing.assert_allclose(scale.restored(low), [5.0, 5.05])
    with pytest.raises(InputError, match=r"a holds -1.0, which has no logarithm; set task.log=false"):
        Scale.fit(made("a", np.array([2.0, -1.0])), 2, log=True)


def test_a_series_that_never_changes_is_refused() -> None:
    with pytest.raises(FileError, match=r"a is 3.0 in all of 4 rows; a series that never changes cannot be scaled"):
        Scale.fit(made("a", np.array([3.0, 3.0, 3.0, 3.0, 5.0])), 4, log=False)


def test_scales_are_kept(tmp_path: Path) -> None:
    scaler = Scaler({"a": Scale(0.1, 3.0, True), "b": Scale(1 / 3, 2e-9)})
    scaler.save(tmp_path)
    assert Scaler.open(tmp_path) == scaler


@pytest.mark.parametrize("text", ["{}", "[]", '{"channels": {"a": {"mean": 1}}}', '{"channels": 3}'])
def test_a_broken_file_is_one_line(text: str, tmp_path: Path) -> None:
    (tmp_path / "scaler.json").write_text(text)
    with pytest.raises(FileError, match=r"scaler.json is not a file of scales; train again"):
        Scaler.open(tmp_path)
