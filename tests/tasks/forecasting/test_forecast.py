from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from rich.console import Console

from glassformer.errors import ConfigError, FileError, InputError
from glassformer.loading import Loaded
from glassformer.tasks.evaluation import evaluate
from glassformer.tasks.forecasting.forecast import forecast
from small_forecaster import hours, trained, written
from small_models import small


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    return trained(tmp_path_factory.mktemp("forecaster") / "run")


def test_the_next_values_with_dates_that_go_on(loaded: Loaded, tmp_path: Path) -> None:
    found = forecast(loaded, written(tmp_path, hours(40)))
    shown = found.to_json()
    assert shown["dates"] == ["2024-01-02 16:00", "2024-01-02 17:00", "2024-01-02 18:00", "2024-01-02 19:00"]
    assert shown["beside"]["persistence"] == pytest.approx([15.5] * 4)
    assert len(shown["forecast"]) == len(shown["beside"]["dlinear"]) == 4 and np.isfinite(shown["forecast"]).all()
    assert len(shown["past"]["values"]) == 24 and shown["past"]["dates"][-1] == "2024-01-02 15:00"


def test_patches_share_the_attention(loaded: Loaded, tmp_path: Path) -> None:
    found = forecast(loaded, written(tmp_path, hours(24)))
    assert len(found.patches) == 7
    assert sum(patch.share for patch in found.patches) == pytest.approx(1, abs=1e-5)
    first, last = found.patches[0], found.patches[-1]
    assert (str(first.first), str(first.last)) == ("2024-01-01T00:00:00", "2024-01-01T05:00:00")
    assert (str(last.first), str(last.last)) == ("2024-01-01T18:00:00", "2024-01-01T23:00:00")


def test_it_is_the_forecast_of_the_evaluation(tmp_path: Path) -> None:
    """A column that was trained on has the scale of its training part, and the same numbers come out."""
    values = np.sin(np.arange(200) / 3).round(6).tolist()
    path = written(tmp_path, hours(200, values))
    one = trained(tmp_path / "run", data={"source": {"kind": "csv", "path": str(path)}})
    last = evaluate(one, "test").hypotheses["load"][-1]
    cut = written(tmp_path, hours(196, values))
    assert forecast(one, cut).said["model"] == pytest.approx([float(value) for value in last.split()], rel=1e-4)


def test_a_series_of_another_size_is_scaled_by_its_own_past(loaded: Loaded, tmp_path: Path) -> None:
    small = [float(np.sin(i / 4)) for i in range(60)]
    one = forecast(loaded, written(tmp_path, hours(60, small))).said["model"]
    other = forecast(loaded, written(tmp_path, hours(60, [1000 * value + 5 for value in small]))).said["model"]
    np.testing.assert_allclose(other, 1000 * one + 5, rtol=1e-3, atol=0.5)


def test_rows_before_the_context_do_not_count_for_a_known_scale(tmp_path: Path) -> None:
    values = np.sin(np.arange(200) / 3).round(6).tolist()
    path = written(tmp_path, hours(200, values))
    one = trained(tmp_path / "run", data={"source": {"kind": "csv", "path": str(path)}})
    whole = forecast(one, path).said["model"]
    changed = forecast(one, written(tmp_path, hours(200, [9.0] * 170 + values[170:]))).said["model"]
    assert (whole == changed).all()


def test_recording_leaves_the_model_as_it_was(loaded: Loaded, tmp_path: Path) -> None:
    before = {name: value.clone() for name, value in loaded.model.state_dict().items()}
    one, other = (forecast(loaded, written(tmp_path, hours(30))).said["model"] for _ in range(2))
    assert (one == other).all() and not loaded.model.training
    assert all(torch.equal(value, before[name]) for name, value in loaded.model.state_dict().items())


def test_it_prints_as_tables(loaded: Loaded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for lang, words in (("en", ("last value", "share of attention")), ("ko", ("마지막 값", "어텐션의 비율"))):
        monkeypatch.setenv("GLASSFORMER_LANG", lang)
        console = Console(width=140)
        with console.capture() as text:
            console.print(forecast(loaded, written(tmp_path, hours(30))))
        assert all(word in text.get() for word in words)


@pytest.mark.parametrize(
    ("text", "keys", "line"),
    [
        (hours(10), {}, "{path}: load has 10 rows, and the model looks at 24; give a longer file"),
        ("date,a,b\n2024-01-01,1,2\n", {}, "{path} has several columns; name one with --column: a, b"),
        (
            "date;a\n2024-01-01;1,5\n",
            {},
            "{path} has too few rows (1): a series needs at least two; give a longer file",
        ),
        (hours(30), {"column": "x"}, "{path} has no column x; there are: date, load"),
        (hours(40, [2.0] * 40), {}, "{path}: load is 2.0 in all of 24 rows; a series that never changes"),
        ("load\n1\n", {}, "{path} has no column called date or time; name it with date (data.source.date, --date)"),
    ],
)
def test_a_file_that_cannot_be_forecast_is_one_line(
    text: str, keys: dict[str, str], line: str, loaded: Loaded, tmp_path: Path
) -> None:
    path = written(tmp_path, text)
    with pytest.raises((FileError, InputError)) as caught:
        forecast(loaded, path, **keys)  # type: ignore[arg-type]
    assert str(caught.value).startswith(line.format(path=path))


def test_gaps_may_be_allowed(loaded: Loaded, tmp_path: Path) -> None:
    lines = hours(40).splitlines()
    path = written(tmp_path, "\n".join([*lines[:30], *lines[31:], ""]))
    with pytest.raises(FileError, match="rows are missing between 2024-01-02 04:00 and 2024-01-02 06:00"):
        forecast(loaded, path)
    assert len(forecast(loaded, path, gaps=True).moments) == 4


def test_without_instance_normalisation_only_known_columns(tmp_path: Path) -> None:
    task = {"kind": "forecasting", "instance_norm": "none"}
    one = trained(tmp_path / "run", run={"name": "tiny", "task": task})
    with pytest.raises(InputError, match=r"load was not trained on \(waves\), and without instance normalisation"):
        forecast(one, written(tmp_path, hours(30)))
    named = written(tmp_path, hours(30).replace("load", "waves"))
    assert len(forecast(one, named).said["model"]) == 4


def test_a_classifier_cannot(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="and cannot forecast; use glassformer classify"):
        forecast(small("classification"), written(tmp_path, hours(30)))


@pytest.mark.parametrize(("key", "value"), [("path", None), ("path", 5), ("column", 5), ("date", []), ("gaps", "yes")])
def test_an_argument_of_another_type_is_refused_by_its_name(
    loaded: Loaded, tmp_path: Path, key: str, value: object
) -> None:
    given: dict[str, Any] = {"path": written(tmp_path, hours(24)), key: value}
    with pytest.raises(ConfigError, match=f"^{key}=.* is of the wrong type; use "):
        forecast(loaded, **given)
