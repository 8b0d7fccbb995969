from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from glassformer.errors import FileError, InputError
from glassformer.tasks.forecasting.forecast import Forecast, forecast
from glassformer.training.forecast_picture import draw_forecast, forecast_figure
from glassformer.training.pictures import hangul_font
from legible import cut_off, laid_out
from small_forecaster import hours, trained, written


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Forecast:
    folder = tmp_path_factory.mktemp("forecaster")
    return forecast(trained(folder / "run"), written(folder, hours(30)))


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("name", ["$a^{b", "전력", "load"])
def test_any_name_of_a_column_can_be_drawn(name: str, found: Forecast, tmp_path: Path) -> None:
    draw_forecast(replace(found, past=replace(found.past, name=name)), tmp_path / "f.png")
    assert (tmp_path / "f.png").stat().st_size > 5000


def test_what_cannot_be_drawn_is_one_line(found: Forecast, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"f.gif: a picture is .png or .svg; name it so"):
        draw_forecast(found, tmp_path / "f.gif")
    with pytest.raises(FileError, match=r"f\.png"):
        draw_forecast(found, tmp_path / "no" / "f.png")


def test_patches_are_brackets_on_the_curve_counted_from_1_and_a_map_beside(found: Forecast) -> None:
    figure = forecast_figure(found, "en")
    assert cut_off(laid_out(figure)) == []
    curve, attention, bar = figure.axes
    names = [str(number + 1) for number in range(len(found.patches))]
    assert [text.get_text() for text in curve.texts] == names
    spans = [line for line in curve.lines if len(line.get_xdata()) == 4]
    edges = [(line.get_xdata()[0], line.get_xdata()[-1]) for line in spans]
    assert edges == [(patch.first, patch.last) for patch in found.patches]
    assert max(max(line.get_ydata()) for line in spans) < min(found.past.values)
    assert [label.get_text() for label in attention.get_xticklabels()] == names
    assert attention.images[0].get_array().shape == found.attention.shape == (len(names), len(names))
    assert bar.get_ylim()[1] == pytest.approx(found.attention.max())


def test_the_shares_are_those_of_the_map(found: Forecast) -> None:
    assert [patch.share for patch in found.patches] == pytest.approx(found.attention.mean(0))
    assert found.attention.sum(1) == pytest.approx(1.0)
    assert found.to_json()["attention"] == found.attention.tolist()
