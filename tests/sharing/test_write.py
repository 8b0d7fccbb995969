from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

import glassformer as gf
import tiny_runs
from glassformer.errors import ConfigError, FileError, GlassformerWarning
from glassformer.loading import load
from glassformer.runs import Run
from glassformer.runs.weights import choose_weights, read_tensors
from glassformer.sharing import share_run
from glassformer.sharing.write import rounded
from glassformer.tasks.evaluation_log import EvaluationLog
from glassformer.training.begin import begin
from glassformer.training.loop import train
from small_forecaster import hours, written
from tiny_tasks import tiny


@pytest.mark.slow
@pytest.mark.parametrize("kind", tiny_runs.KINDS)
def test_every_task_leaves_with_what_its_use_needs(kind: str, tmp_path: Path) -> None:
    run = tiny_runs.trained(kind, tmp_path)
    card = share_run(run, tmp_path / "shared")
    assert not {"log.jsonl", "status.json", "samples", "pictures", "evaluations.jsonl"} & {
        path.name for path in (tmp_path / "shared").iterdir()
    }
    ours, theirs = load(run), load(tmp_path / "shared")
    assert theirs.config.to_dict() == ours.config.to_dict()
    for name, x in theirs.model.state_dict().items():
        assert torch.equal(x, ours.model.state_dict()[name].half().float())
    assert card.score is not None and card.score == pytest.approx(card.score_before, rel=0.05)
    assert EvaluationLog(run).count("validation") == 1
    found = gf.evaluate(tmp_path / "shared")
    assert found.readings == 1


def test_the_card_holds_the_facts(tmp_path: Path) -> None:
    run = tiny_runs.trained("forecasting", tmp_path)
    card = share_run(run, tmp_path / "mine")
    assert (card.name, card.task, card.recipe, card.command) == ("mine", "forecasting", "", "")
    assert (card.metric, card.split, card.data, card.dtype) == ("mse", "validation", {"waves": "MIT"}, "float16")
    assert {"persistence", "dlinear", "nlinear"} <= set(card.beside) and card.groups == {}
    file = choose_weights(Run.open(tmp_path / "mine"))
    assert card.bytes == file.stat().st_size and card.parameters == gf.count(run).total.parameters
    assert {x.dtype for x in read_tensors(file).values()} == {torch.float16}


def test_the_card_has_the_score_of_every_group_of_the_split(tmp_path: Path) -> None:
    run = tiny_runs.trained("translation", tmp_path)
    card, found = share_run(run, tmp_path / "mine", split="test"), gf.evaluate(tmp_path / "mine", "test")
    assert card.groups == {name: each.to_json()["bleu"] for name, each in found.groups.items()} and len(card.groups) > 1
    assert all(name in repr(card) for name in card.groups)


def test_the_command_is_that_of_a_recipe_without_paths(tmp_path: Path) -> None:
    run = tiny_runs.trained("forecasting", tmp_path)
    table = json.loads((run / "environment.json").read_text())
    words = ["/somewhere/glassformer", "train", "prices", "--out", "/home/me/x", "--seed", "3", "--set=train.steps=5"]
    (run / "environment.json").write_text(json.dumps(table | {"command": words}))
    assert (
        share_run(run, tmp_path / "a", split="none").command == "glassformer train prices --seed 3 --set=train.steps=5"
    )


def test_files_of_this_machine_are_left_out_and_said(tmp_path: Path) -> None:
    path = written(tmp_path, hours(200))
    source: dict[str, Any] = {"source": {"kind": "csv", "path": str(path)}}
    list(train(begin(tiny("forecasting", data=source, run={"name": "mine", "task": "forecasting"}), tmp_path / "run")))
    with pytest.warns(GlassformerWarning, match=r"is left out of the shared config\.toml: it is a file of this mach"):
        card = share_run(tmp_path / "run", tmp_path / "shared")
    assert card.score is not None and card.data == {"csv": ""}
    assert "path" not in Run.open(tmp_path / "shared").config.data.source.options
    assert str(tmp_path) not in (tmp_path / "shared" / "config.toml").read_text()
    assert len(gf.forecast(tmp_path / "shared", path).moments) == 4
    with pytest.raises(ConfigError, match="needs the option path"):
        gf.evaluate(tmp_path / "shared")


def test_a_start_on_this_machine_is_left_out(tmp_path: Path) -> None:
    first = tiny_runs.trained("translation", tmp_path)
    list(train(begin(tiny("translation", train={**TRAINED_FROM, "start": str(first)}), tmp_path / "run")))
    with pytest.warns(GlassformerWarning, match="training started from it, and it lies on this machine"):
        share_run(tmp_path / "run", tmp_path / "shared", split="none")
    assert Run.open(tmp_path / "shared").config.train.start is None


TRAINED_FROM = {"steps": 2, "evaluate_every": 2, "save_every": 2}


def test_without_its_data_there_is_no_score(tmp_path: Path) -> None:
    run = tiny_runs.trained("forecasting", tmp_path)
    text = (run / "config.toml").read_text()
    (run / "config.toml").write_text(
        text.replace('kind = "waves"', 'kind = "csv", path = "gone.csv"').replace(", count = 400", "")
    )
    with pytest.warns(GlassformerWarning) as said:
        card = share_run(run, tmp_path / "shared")
    assert any("the card has no score: " in str(each.message) for each in said)
    assert (card.score, card.score_before, card.split) == (None, None, "")


def test_numbers_too_large_for_the_type_are_refused(tmp_path: Path) -> None:
    big = {"a.weight": torch.tensor([1.0, 1e6]), "steps": torch.tensor([10**6])}
    with pytest.raises(FileError, match=r"a\.weight holds 1e\+06, more than float16 can hold; use --dtype bfloat16"):
        rounded(big, torch.float16, tmp_path)
    assert rounded(big, torch.bfloat16, tmp_path)["steps"].dtype == torch.int64


def test_what_is_refused(tmp_path: Path) -> None:
    run = tiny_runs.trained("forecasting", tmp_path)
    with pytest.raises(ConfigError, match="dtype='int8' is unknown; use one of: float16, bfloat16, float32"):
        share_run(run, tmp_path / "a", dtype="int8")
    with pytest.raises(FileError, match="is not a run"):
        share_run(tmp_path / "none", tmp_path / "a")
    with pytest.raises(FileError, match="holds a run that was trained; no command replaces one"):
        share_run(run, tiny_runs.trained("translation", tmp_path), force=True)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(FileError, match="--force"):
        share_run(run, tmp_path / "full", split="none")
    share_run(run, tmp_path / "full", split="none", force=True)
    assert (tmp_path / "full" / "file").is_file() and load(tmp_path / "full")
    share_run(run, tmp_path / "full", split="none")  # what it wrote itself it renews
    for folder in (run / "checkpoints").iterdir():
        (folder / "model.safetensors").unlink()
    with pytest.raises(FileError):
        share_run(run, tmp_path / "b")
    assert not (tmp_path / "b").exists()
