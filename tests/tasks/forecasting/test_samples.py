from __future__ import annotations

from pathlib import Path

import pytest

import small_forecaster
from glassformer.runs import Run
from glassformer.tasks.forecasting.samples import forecast_file, read_forecast
from glassformer.tasks.samples import kept_attention, last_samples


def test_every_evaluation_leaves_a_forecast_beside_what_came(tmp_path: Path) -> None:
    run = Run.open(small_forecaster.trained(tmp_path / "run").folder)
    step, samples = last_samples(run)
    assert step > 0 and samples and set(samples[0]) == {"source", "target", "translation"}
    found = read_forecast(run, step)
    assert found is not None
    options, outputs = run.config.model.input.options, run.config.model.head.options["outputs"]
    assert len(found.past) == options["context"] and len(found.future) == len(found.said) == outputs
    assert samples[0]["source"].startswith(found.name)
    assert samples[0]["target"].split(", ")[0] == f"{found.future[0]:.4g}"


def test_its_attention_is_kept_patch_by_patch(tmp_path: Path) -> None:
    run = Run.open(small_forecaster.trained(tmp_path / "run").folder)
    step, _ = last_samples(run)
    looked, found = kept_attention(run, step), read_forecast(run, step)
    assert looked is not None and found is not None and looked.kind == "patch_attention"
    assert looked.rows == looked.columns == [str(number + 1) for number in range(len(found.first))]
    assert looked.weights[0] == pytest.approx(found.attention[0])
    assert sum(looked.weights[0]) == pytest.approx(1.0, abs=1e-4)


def test_what_was_not_written_is_not_read(tmp_path: Path) -> None:
    run = Run.open(small_forecaster.trained(tmp_path / "run").folder)
    assert read_forecast(run, 12345) is None and not forecast_file(run, 12345).exists()
    assert kept_attention(run, 12345) is None
