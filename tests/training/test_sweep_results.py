from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console

from glassformer.runs import Run
from glassformer.training.sweep import plan_trials, sweep
from glassformer.training.sweep_results import SweepComparison, TrialResult, VariantResults, _shown, compare_trials
from small_translator import write_recipe


def result(loss: float, state: str = "finished", seed: int = 0) -> TrialResult:
    return TrialResult(seed, Path("run"), state, {"loss": loss}, [(1, loss)], [])


def test_mean_and_spread_over_the_seeds() -> None:
    row = VariantResults("a", {}, [result(1.0), result(3.0), result(90.0, "failed")])
    assert row.mean("loss") == 2.0
    assert row.spread("loss") == pytest.approx(2**0.5)
    assert VariantResults("a", {}, [result(1.0)]).spread("loss") is None
    assert VariantResults("a", {}, []).mean("loss") is None
    assert [_shown(*pair) for pair in ((None, None), (1.5, None), (1.5, 0.25))] == ["–", "1.5", "1.5 ± 0.25"]


@pytest.mark.parametrize(("lang", "word"), [("en", "finished"), ("ko", "끝난 실행")])
def test_a_table_in_either_language(lang: str, word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSFORMER_LANG", lang)
    console = Console(width=120)
    with console.capture() as shown:
        console.print(
            SweepComparison("small", 2, [VariantResults("norm_order=pre", {}, [result(1.0), result(2.0, "failed")])])
        )
    assert all(each in shown.get() for each in (word, "norm_order=pre", "1/2", "small"))


@pytest.mark.slow
def test_what_the_runs_have_written(tmp_path: Path) -> None:
    trials = plan_trials(write_recipe(tmp_path, steps=4), {"train.learning_rate": [1e-3, 2e-3]}, 2, tmp_path / "out")
    for _ in sweep(trials[:3]):
        pass
    found = compare_trials("small", trials)
    assert [len(row.results) for row in found.rows] == [2, 1] and found.seeds == 2
    first = found.rows[0].results[0]
    run = Run.open(first.folder)
    records = [line for line in run.log.read() if line["kind"] == "evaluation"]
    assert first.validation == [(line["step"], line["loss"]) for line in records] and len(records) == 2
    assert [step for step, _ in first.training] == [1, 2, 3, 4]
    assert first.metrics["loss"] == min(line["loss"] for line in records)
    table = json.loads(json.dumps(found.to_json()))
    assert table["variants"][0]["settings"] == {"train.learning_rate": 1e-3}
    assert table["variants"][0]["mean"]["loss"] == found.rows[0].mean("loss")
    assert table["variants"][1]["spread"]["loss"] is None
