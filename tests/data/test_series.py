from __future__ import annotations

from pathlib import Path

import pytest

from glassformer.data.series import read_prices, read_series
from glassformer.errors import FileError


def write(folder: Path, text: str) -> Path:
    path = folder / "series.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_channels_over_time(tmp_path: Path) -> None:
    found = read_series(write(tmp_path, "date,HUFL,OT\n2016-07-01,1.5,-2\n2016-07-02,3,4e-1\n"))
    assert (found.dates, found.channels, len(found)) == (["2016-07-01", "2016-07-02"], ("HUFL", "OT"), 2)
    assert found.values.tolist() == [[1.5, -2.0], [3.0, 0.4]]


def test_one_series_for_each_share(tmp_path: Path) -> None:
    found = read_prices(write(tmp_path, "date,close,ticker\nd1,1,A\nd2,2,A\nd1,9,B\n"))
    assert {ticker: series.values.tolist() for ticker, series in found.items()} == {"A": [[1.0], [2.0]], "B": [[9.0]]}
    assert (found["A"].dates, found["A"].channels) == (["d1", "d2"], ("close",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("date,OT\n", "is empty"),
        ("date,OT\nd1,\n", "line 2 holds '' where a number belongs"),
        ("date,OT\nd1,1\nd2\n", "line 3 has 1 columns and 2 are needed"),
    ],
)
def test_a_bad_file_is_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=message):
        read_series(write(tmp_path, text))
