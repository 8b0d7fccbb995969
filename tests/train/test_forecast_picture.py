from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from glassformer.errors import FileError, InputError
from glassformer.evaluate.forecast import Forecast, forecast
from glassformer.train.forecast_picture import draw_forecast
from glassformer.train.pictures import hangul_font
from small_forecaster import hours, trained, written


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Forecast:
    folder = tmp_path_factory.mktemp("forecaster")
    return forecast(trained(folder / "run"), written(folder, hours(30)))


@pytest.mark.parametrize(("kind", "head"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("PNG", b"\x89PNG")])
def test_it_is_drawn(kind: str, head: bytes, found: Forecast, tmp_path: Path) -> None:
    path = tmp_path / f"forecast.{kind}"
    draw_forecast(found, path)
    assert path.read_bytes().startswith(head) and [each.name for each in tmp_path.iterdir()] == [path.name]


def test_korean_where_there_is_a_font(found: Forecast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSFORMER_LANG", "ko")
    draw_forecast(found, tmp_path / "ko.svg")  # a missing glyph would be a warning, and those are errors here
    monkeypatch.setenv("GLASSFORMER_LANG", "en")
    draw_forecast(found, tmp_path / "en.svg")
    same = len((tmp_path / "ko.svg").read_bytes()) == len((tmp_path / "en.svg").read_bytes())
    assert same == (hangul_font() is None)


@pytest.mark.parametrize("name", ["$a^{b", "전력", "load"])
def test_any_name_of_a_column_can_be_drawn(name: str, found: Forecast, tmp_path: Path) -> None:
    draw_forecast(replace(found, past=replace(found.past, name=name)), tmp_path / "f.png")
    assert (tmp_path / "f.png").stat().st_size > 5000


def test_what_cannot_be_drawn_is_one_line(found: Forecast, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"f.gif: a picture is .png or .svg; name it so"):
        draw_forecast(found, tmp_path / "f.gif")
    with pytest.raises(FileError, match=r"f\.png"):
        draw_forecast(found, tmp_path / "no" / "f.png")
