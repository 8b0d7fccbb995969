from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

import warm
from glassformer.bench import recipe_time
from glassformer.bench.catalogue import BENCHMARKS
from glassformer.bench.recipe_time import WHOLE_RUNS, TimedRecipe, reached_in, table, timed
from glassformer.errors import ConfigError, InputError
from glassformer.loading import recipes

QUICK = ["--steps", "4", "--device", "cpu", "--set", "train.warmup=2", "--set", "train.evaluate_every=2"]
QUICK += ["--set", "data.source.count=300", "--set", "model.n_decoder_layers=1"]


@pytest.fixture(autouse=True)
def _forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command itself, from a process that has torch in memory."""
    monkeypatch.setattr(recipe_time, "PROGRAM", warm.command())


@pytest.mark.slow
def test_a_whole_run_is_timed_part_by_part(tmp_path: Path) -> None:
    row = timed(TimedRecipe("characters", loss=100.0), tmp_path / "run", QUICK)
    assert (row["recipe"], row["steps"]) == ("characters", 4)
    assert row["start"] + row["first"] + row["updates"] == pytest.approx(row["whole"])
    assert min(row["start"], row["first"], row["updates"]) > 0
    assert row["reached"]["step"] == 2
    assert 0 < row["reached"]["seconds"] <= row["whole"]


def test_a_command_that_fails_gives_no_time(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="glassformer train nothing ended with exit code"):
        timed(TimedRecipe("nothing"), tmp_path / "run")


def test_the_first_evaluation_that_is_low_enough_counts(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    assert reached_in(log, 1.5, 9.0) is None
    records: list[dict[str, Any]] = [{"kind": "train", "step": 1, "loss": 1.0}]
    records += [{"kind": "evaluation", "step": step, "loss": loss} for step, loss in ((2, 1.6), (4, 1.5), (6, 1.4))]
    whole = "\n".join(map(json.dumps, records))
    log.write_text(whole.rpartition("\n")[0][:-5])  # the line of step 4 is half written
    assert reached_in(log, 1.5, 9.0) is None
    log.write_text(whole + "\n")
    assert reached_in(log, 1.5, 9.0) == {"step": 4, "seconds": 9.0, "loss": 1.5}
    assert reached_in(log, 1.0, 9.0) is None


def test_the_timed_recipes_exist() -> None:
    assert {timed_recipe.recipe for timed_recipe in WHOLE_RUNS.values()} <= set(recipes())


@pytest.mark.parametrize(
    ("lang", "reached", "missed"),
    [
        ("en", "1.5 after 30.0 s (step 2,000)", "1.5 not reached"),
        ("ko", "30.0초 만에 1.5(2,000스텝)", "1.5에 이르지 못함"),
    ],
)
def test_the_table_says_when_the_loss_was_reached(lang: str, reached: str, missed: str) -> None:
    row: dict[str, Any] = {"recipe": "x", "steps": 5000, "updates": 50.0, "first": 20.0, "start": 5.0, "whole": 75.0}
    found = {"step": 2000, "seconds": 30.0, "loss": 1.49}
    rows = [
        row | {"wanted": 1.5, "reached": found, "nanogpt_step": {"median": 0.01}},
        row | {"wanted": 1.5, "reached": None, "nanogpt_step": {"median": 0.01}},
        row | {"wanted": None, "reached": None},
    ]
    shown = table({"rows": rows}, lang)[1:]
    assert shown[0] == ["x", "5,000", "50.0 s", "20.0 s", "5.0 s", "75.0 s", reached, "20.0 s"]
    assert [line[-2:] for line in shown[1:]] == [[missed, "–"], ["–", "–"]]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is an accelerator")
@pytest.mark.parametrize("name", WHOLE_RUNS)
def test_without_an_accelerator_it_says_so(name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} is measured on an accelerator, and there is none here"):
        BENCHMARKS[name].run()
