from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

import glassformer as gf
import tiny_runs
from glassformer.errors import FileError
from glassformer.runs import Run
from glassformer.runs.weights import choose_weights, read_tensors
from glassformer.sharing import share_run


def test_chosen_checkpoints_leave_together_and_the_last_is_used(tmp_path: Path) -> None:
    run = tiny_runs.trained("translation", tmp_path)
    card = share_run(run, tmp_path / "small", checkpoints=[8, 4, 4], split="none")
    shared = Run.open(tmp_path / "small")
    assert list(shared.checkpoints_by_step()) == [4, 8] and card.steps == 8
    assert choose_weights(shared).parent == shared.checkpoint(8)
    for step in (4, 8):
        theirs = read_tensors(choose_weights(shared, step))
        for name, x in read_tensors(choose_weights(Run.open(run), step)).items():
            assert torch.equal(theirs[name], x.half())
        folder = shared.checkpoint(step)
        assert sorted(path.name for path in folder.iterdir()) == ["manifest.json", "model.safetensors"]


def test_the_log_holds_the_points_of_the_curves_up_to_the_last(tmp_path: Path) -> None:
    run = tiny_runs.trained("translation", tmp_path)
    share_run(run, tmp_path / "small", checkpoints=[4, 6], split="none")
    ours = [record for record in Run.open(run).log.read() if record["step"] <= 6]
    theirs = Run.open(tmp_path / "small").log.read()
    points = [record for record in ours if record["kind"] in ("train", "evaluation")]
    assert [(each["kind"], each["step"], each["loss"]) for each in theirs] == [
        (each["kind"], each["step"], each["loss"]) for each in points
    ]
    assert theirs[-1]["step"] == 6 and "elapsed" not in theirs[0]
    share_run(run, tmp_path / "one", split="none")
    assert not (tmp_path / "one" / "log.jsonl").exists()


def test_the_score_is_that_of_the_last(tmp_path: Path) -> None:
    run = tiny_runs.trained("forecasting", tmp_path)
    card = share_run(run, tmp_path / "small", checkpoints=[4, 6], dtype="float32")
    errors = {step: gf.evaluate(gf.load(run, checkpoint=step)).total.to_json()["mse"] for step in ("4", "6")}
    assert card.score == card.score_before == errors["6"] != errors["4"]


def test_a_step_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    run = tiny_runs.trained("translation", tmp_path)
    with pytest.raises(FileError, match=r"has no checkpoint 5; it has these steps: 4, 6, 8$"):
        share_run(run, tmp_path / "small", checkpoints=[4, 5])
    assert not (tmp_path / "small").exists()


def test_a_tokenizer_leaves_without_its_layout_and_reads_the_same(tmp_path: Path) -> None:
    run = tiny_runs.trained("translation", tmp_path)
    share_run(run, tmp_path / "small", split="none")
    for name in ("tokenizer/tokenizer.json", "seen.json"):
        ours, theirs = ((folder / name).read_text(encoding="utf-8") for folder in (run, tmp_path / "small"))
        assert json.loads(ours) == json.loads(theirs) and theirs.count("\n") == 1 and len(theirs) < len(ours)
    text = "우리는 자주 웃는다"
    assert gf.load(run).encode(text) == gf.load(tmp_path / "small").encode(text)
