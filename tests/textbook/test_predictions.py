from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from glassformer.bench import record
from glassformer.bench.record import BenchResult, recorded_results
from glassformer.ledger import reached
from glassformer.ledger.reached import OURS, recorded_steps
from glassformer.textbook.predictions import WHOLE_RUNS, Prediction, prediction_table, predictions

FOUND = list(predictions())


def of(bench: str, model: str, quantity: str) -> list[Prediction]:
    return [each for each in FOUND if (each.bench, each.model, each.quantity) == (bench, model, quantity)]


def test_every_recorded_step_of_ours_stands_beside_its_prediction() -> None:
    steps = [each for each in FOUND if each.quantity == "step"]
    for step in recorded_steps():
        assert step.seconds in [each.measured for each in steps if (each.bench, each.model) == (step.bench, step.model)]
    for bench in ("gpt-step", "training-step"):
        for result in recorded_results(bench):
            peaks = [row["peak"][OURS] for row in result.numbers["rows"] if OURS in row["peak"]]
            for quantity in ("planned_memory", "counted_memory"):
                here = [each for each in FOUND if each.bench == bench and each.machine == result.machine["accelerator"]]
                assert [each.measured for each in here if each.quantity == quantity] == peaks


def test_no_step_is_predicted_from_itself() -> None:
    for each in FOUND:
        if each.quantity == "step":
            assert each.spoke is None or (each.spoke.bench, each.spoke.model) != (each.bench, each.model)
            assert each.share is not None
    (lonely,) = (each for each in FOUND if each.quantity == "step" and each.machine == "")
    assert (lonely.spoke, lonely.share) == (None, 0.4)  # the only CPU on which a step was recorded


def test_every_recorded_run_stands_beside_its_prediction() -> None:
    recorded = {
        (result.name, row["recipe"])
        for bench in WHOLE_RUNS
        for result in recorded_results(bench)
        for row in result.numbers["rows"]
        if row.get("side", OURS) == OURS
    }
    assert {(each.bench, each.model) for each in FOUND if each.quantity == "run"} == recorded
    (characters,) = of("shakespeare-char-time", "shakespeare-char", "run")
    (row, *_) = recorded_results("shakespeare-char-time")[0].numbers["rows"]
    assert (row["side"], characters.measured) == (OURS, row["updates"])


def test_memory_is_predicted_within_a_tenth() -> None:
    assert all(abs(each.error) < 0.1 for each in FOUND if each.share is None)


def test_a_slower_record_changes_what_is_measured_and_not_what_is_predicted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And it changes the prediction of the other model, for which it speaks."""
    shutil.copytree(record.RESULTS, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "gpt-step.h200.json"
    whole = BenchResult.read(path)
    (row,) = (row for row in whole.numbers["rows"] if row["model"] == "shakespeare-char")
    before = row["seconds"][OURS]["median"]
    row["seconds"][OURS]["median"] = 2 * before
    replace(whole).write(path)
    monkeypatch.setattr(record, "RESULTS", tmp_path)
    monkeypatch.setattr(reached, "RESULTS", tmp_path)
    again = list(predictions())
    pairs = [(old, new) for old, new in zip(FOUND, again, strict=True) if old.quantity == "step"]
    for old, new in pairs:
        if old.model == "shakespeare-char":
            assert (new.predicted, new.measured) == (old.predicted, 2 * old.measured)
        elif old.spoke is not None and old.spoke.model == "shakespeare-char":
            assert new.predicted > 1.5 * old.predicted and new.measured == old.measured


@pytest.mark.parametrize(
    ("lang", "texts"),
    [
        ("en", ("predicted", "time of a step", "a CPU", "0.4 of the peak, assumed", "paper-base, compiled")),
        ("ko", ("예측", "한 스텝의 시간", "최대 성능의 0.4 배로 가정", "gpt-step, NVIDIA H200")),
    ],
)
def test_the_table_shows_prediction_measurement_and_error(lang: str, texts: tuple[str, ...]) -> None:
    table = prediction_table(lang)
    assert len(table.splitlines()) == 2 + len(FOUND)
    assert all(text in table for text in texts)
    (first,) = of("gpt-step", "gpt2", "step")
    assert f"{100 * first.error:+.1f} %" in table.splitlines()[2]
    json.dumps([each.predicted for each in FOUND], allow_nan=False)
