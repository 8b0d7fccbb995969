from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from glassformer.errors import ConfigError, InputError
from glassformer.loading import Loaded, load
from glassformer.tasks.evaluation import evaluate
from glassformer.tasks.forecasting.evaluation import ForecastEvaluation
from small_forecaster import hours, trained, written


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    task = {"kind": "forecasting", "season": 24, "drop_last": 16}
    return trained(tmp_path_factory.mktemp("forecaster") / "run", run={"name": "tiny", "task": task})


def judged(loaded: Loaded, split: str = "test") -> ForecastEvaluation:
    found = evaluate(loaded, split)
    assert isinstance(found, ForecastEvaluation)
    return found


def test_every_window_counts_and_the_dropped_number_stands_beside(loaded: Loaded) -> None:
    found = judged(loaded)
    assert len(found.forecasts.windows) == 80 - 4 + 1 == 77
    assert found.dropped is not None and (found.dropped.missing, found.dropped.windows) == (77 % 16, 77)
    said, actual = found.forecasts.said["model"], found.forecasts.actual
    assert found.total.mse == pytest.approx(((said - actual) ** 2).mean())
    assert found.dropped.errors.mse == pytest.approx(((said - actual)[:64] ** 2).mean())


def test_the_others_forecast_the_same_windows(loaded: Loaded) -> None:
    found = judged(loaded)
    made, values = found.forecasts, found.forecasts.windows.values.astype(np.float64)
    assert list(found.beside) == ["persistence", "seasonal", "dlinear", "nlinear"]
    first = made.windows.starts + 24
    assert (made.said["persistence"] == values[first - 1][:, None]).all()
    np.testing.assert_array_equal(made.said["seasonal"][:, 0], values[first - 24])
    naive = np.abs(np.diff(values[:280], n=1)).mean()
    steps = np.abs(values[24:280] - values[:256]).mean()
    assert naive != steps and found.beside["persistence"].mase == pytest.approx(found.beside["persistence"].mae / steps)
    assert found.beside["persistence"].direction is not None and found.beside["persistence"].direction.hits == 0


def test_json_holds_all_and_the_reading_is_written_down(loaded: Loaded) -> None:
    before = judged(loaded, "validation").readings
    found = judged(loaded, "validation")
    shown = found.to_json()
    assert (
        found.readings
        == before + 1
        == len(
            [line for line in (loaded.folder / "evaluations.jsonl").read_text().splitlines() if '"validation"' in line]
        )
    )
    assert {"mse", "mae", "mase", "direction", "beside", "gains", "dropped", "windows", "horizon"} <= set(shown)
    assert shown["gains"]["dlinear"]["verdict"] in ("better", "same", "worse")
    assert shown["ridges"]["nlinear"] > 0
    assert [len(lines) for lines in found.hypotheses.values()] == [shown["windows"]]
    assert len(found.hypotheses["waves"][0].split()) == 4


def test_what_there_is_not_is_refused(loaded: Loaded, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="split='nothing' is unknown; use one of: train, validation, test"):
        evaluate(loaded, "nothing")
    source = {"kind": "waves", "count": 300, "split": [200, 50, 0]}
    without = trained(tmp_path / "run", data={"source": source})
    with pytest.raises(InputError, match=r"the split 'test' of .* holds no examples"):
        evaluate(without, "test")


def test_values_beyond_the_last_horizon_do_not_change_the_score(tmp_path: Path) -> None:
    """The split ends at row 360: shuffle what comes behind, and every score stays."""
    random = np.random.default_rng(0)
    values = (np.sin(np.arange(400) / 4) + 0.1 * random.standard_normal(400)).tolist()
    path = written(tmp_path, hours(400, values))
    source = {"kind": "csv", "path": str(path), "split": [280, 40, 40]}
    one = trained(tmp_path / "run", data={"source": source})
    before = judged(one).to_json()
    written(tmp_path, hours(400, [*values[:360], *random.permutation(values[360:]).tolist()]))
    after = judged(load(tmp_path / "run", checkpoint="last")).to_json()
    assert before | {"readings": 0} == after | {"readings": 0}
    written(tmp_path, hours(400, [*values[:359], 9.0, *values[360:]]))
    assert judged(one).total.mse != before["mse"]


def silent(loaded: Loaded, offset: float) -> Loaded:
    """From the last value, always by the same step."""
    with torch.no_grad():
        for parameter in loaded.model.head.parameters():
            parameter.zero_()
        loaded.model.head.output.bias.fill_(offset)
    return loaded


@pytest.mark.parametrize(
    ("offset", "verdict", "sentence"),
    [
        (0.0, "same", "The model does not beat last value (persistence): it gains 0.0% of the squared error"),
        (9.0, "worse", "The model does not beat last value (persistence): its squared error is"),
    ],
)
def test_a_model_that_does_not_beat_persistence_says_so(
    offset: float, verdict: str, sentence: str, tmp_path: Path
) -> None:
    task: dict[str, Any] = {"kind": "forecasting", "instance_norm": "last"}
    found = judged(silent(trained(tmp_path / "run", run={"name": "tiny", "task": task}), offset))
    assert found.gains["persistence"].verdict == verdict and not found.beats_persistence
    assert found.to_json()["beats_persistence"] is False
    assert sentence in repr(found).replace("\n", " ")


@pytest.mark.slow
def test_on_waves_a_model_beats_persistence_and_says_so(tmp_path: Path) -> None:
    keys = {"steps": 300, "evaluate_every": 100, "save_every": 100, "accumulate": 1}
    source = {"kind": "waves", "count": 1500}
    found = judged(trained(tmp_path / "run", data={"source": source}, train=keys))
    assert found.beats_persistence and found.gains["persistence"].value > 0.5
    assert "The model beats last value (persistence)" in repr(found)
    assert found.total.direction is not None and found.total.direction.low > 0.5


def test_beside_a_method_without_error_a_model_can_only_be_worse(tmp_path: Path) -> None:
    """A series that repeats itself exactly: the value of a season ago is never wrong."""
    path = written(tmp_path, hours(400, [float((i % 24) ** 2) for i in range(400)]))
    run = {"name": "tiny", "task": {"kind": "forecasting", "season": 24}}
    found = judged(trained(tmp_path / "run", run=run, data={"source": {"kind": "csv", "path": str(path)}}))
    assert found.gains["seasonal"].value == -np.inf and found.gains["seasonal"].verdict == "worse"
    assert found.gains["persistence"].value > -np.inf
