from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import warm
from glassformer.bench import recipe_time
from glassformer.bench.catalogue import BENCHMARKS
from glassformer.bench.nanogpt import GPTShape
from glassformer.bench.nanogpt_run import NanoGPTRun
from glassformer.bench.recipe_time import (
    WHOLE_RUNS,
    LogWatch,
    Seen,
    TimedRecipe,
    measured,
    reached,
    read_libraries,
    table,
    timed,
    timed_nanogpt,
)
from glassformer.errors import ConfigError, InputError
from glassformer.loading import open_recipe, recipes
from glassformer.runs import Run

QUICK = ["--steps", "4", "--device", "cpu", "--set", "train.warmup=2", "--set", "train.evaluate_every=2"]
QUICK += ["--set", "train.log_every=1", "--set", "data.source.count=300", "--set", "model.n_decoder_layers=1"]


@pytest.fixture(autouse=True)
def _forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command itself, from a process that has torch in memory."""
    monkeypatch.setattr(recipe_time, "PROGRAM", warm.command())


@pytest.mark.slow
def test_a_whole_run_is_timed_part_by_part(tmp_path: Path) -> None:
    row = timed(TimedRecipe("characters"), tmp_path / "run", tmp_path / "cache", QUICK)
    assert (row["recipe"], row["side"], row["cached"], row["steps"]) == ("characters", "glassformer", False, 4)
    assert min(row["start"], row["first"], row["updates"]) > 0
    assert row["start"] + row["first"] + row["updates"] < row["whole"]
    assert [seen["step"] for seen in row["evaluations"]] == [2, 4]
    assert row["reached"] is None


@pytest.mark.slow
def test_a_run_stops_when_it_has_reached_the_loss(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    long = [*QUICK, "--set", "train.steps=100000"]
    row = timed(TimedRecipe("characters", loss=100.0), tmp_path / "run", tmp_path / "cache", long[2:])
    assert row["reached"] == row["evaluations"][0]
    assert row["reached"]["step"] == 2 and 0 < row["reached"]["seconds"] < row["whole"]
    assert 2 <= row["steps"] < 100_000 and row["cached"]
    assert Run.open(tmp_path / "run").status["state"] == "interrupted"


@pytest.mark.slow
def test_nanogpts_run_is_timed_beside_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSFORMER_DATA", str(tmp_path / "data"))
    (tmp_path / "data" / "tinyshakespeare").mkdir(parents=True)
    (tmp_path / "data" / "tinyshakespeare" / "input.txt").write_text("the cat sat on the mat\n" * 40, encoding="utf-8")
    shape = GPTShape(vocab_size=0, block_size=8, n_layer=1, n_head=2, n_embd=16)
    peer = NanoGPTRun(shape=shape, batch=2, steps=4, warmup=1, evaluate_every=2, evaluated=2, device="cpu")
    timed_recipe = TimedRecipe("characters", loss=0.001, nanogpt=replace(peer, compiled=False))
    rows = measured(timed_recipe, tmp_path, QUICK)
    assert [row["side"] for row in rows] == ["glassformer", "nanogpt"]
    theirs = rows[1]
    assert [seen["step"] for seen in theirs["evaluations"]] == [0, 2, 4]
    assert (theirs["recipe"], theirs["steps"], theirs["wanted"], theirs["reached"]) == ("characters", 4, 0.001, None)
    assert min(theirs["start"], theirs["first"], theirs["updates"]) > 0
    assert theirs["start"] + theirs["first"] + theirs["updates"] < theirs["whole"]
    assert rows[0].keys() == theirs.keys()
    assert all("0.001 not reached; lowest" in line[-1] for line in table({"rows": rows}, "en")[1:])
    (tmp_path / "compiled").mkdir()
    monkeypatch.setenv("PATH", "")  # no compiler is found, so that this takes seconds
    twice = measured(timed_recipe, tmp_path / "compiled", [*QUICK, "--set", "train.compile=true"])
    assert [row["side"] for row in twice] == ["glassformer", "glassformer", "nanogpt"]


def test_all_that_is_read_before_timing_can_be_imported() -> None:
    read_libraries()


def test_a_command_that_fails_gives_no_time(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="glassformer train nothing ended with exit code"):
        timed(TimedRecipe("nothing"), tmp_path / "run", tmp_path / "cache")


@pytest.mark.slow
def test_a_peer_that_fails_gives_no_time(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"-m glassformer\.bench\.nanogpt_run ended with exit code 1"):
        timed_nanogpt(NanoGPTRun(data="nothing", device="cpu"), tmp_path / "cache")


def test_a_log_is_read_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    log = LogWatch(path)
    log.look(1.0)
    records: list[dict[str, Any]] = [{"kind": "train", "step": 1, "loss": 1.0, "elapsed": 3.0}]
    records += [{"kind": "evaluation", "step": step, "loss": loss} for step, loss in ((2, 1.6), (4, 1.5), (6, 1.4))]
    whole = "".join(json.dumps(record) + "\n" for record in records)
    half = whole.index('"step": 4')
    path.write_text(whole[:half])
    log.look(5.0)
    assert (log.start, log.evaluations) == (2.0, [Seen(2, 1.6, 5.0)])
    path.write_text(whole)
    log.look(9.0)
    assert (log.start, log.evaluations[1:]) == (2.0, [Seen(4, 1.5, 9.0), Seen(6, 1.4, 9.0)])
    assert reached(log.evaluations, 1.5) == Seen(4, 1.5, 9.0)
    assert reached(log.evaluations, 1.0) is None and reached(log.evaluations, None) is None


def test_the_timed_recipes_exist_and_log_before_they_evaluate() -> None:
    """The first line of the log says when training began."""
    for timed_recipe in WHOLE_RUNS.values():
        assert timed_recipe.recipe in recipes()
        train = open_recipe(timed_recipe.recipe).train
        assert train.log_every <= train.evaluate_every


def test_nanogpt_is_evaluated_as_often_as_the_recipe() -> None:
    train, peer = open_recipe("shakespeare-char").train, NanoGPTRun()
    assert (peer.steps, peer.warmup, peer.rate) == (train.steps, train.warmup, train.learning_rate)
    assert peer.evaluate_every == train.evaluate_every == train.save_every
    assert peer.batch * peer.shape.block_size == train.batch_tokens


@pytest.mark.parametrize(
    ("lang", "cache", "found", "missed"),
    [
        (
            "en",
            "empty",
            "1.5 after 30.0 s (step 2,000: 1.4900)",
            "1.4 not reached; lowest 1.4900 after 30.0 s (step 2,000)",
        ),
        ("ko", "비어 있음", "30.0초 만에 1.5(2,000스텝: 1.4900)", "1.4에 이르지 못함. 최저 1.4900(30.0초, 2,000스텝)"),
    ],
)
def test_the_table_says_when_the_loss_was_reached(lang: str, cache: str, found: str, missed: str) -> None:
    seen = [{"step": 1000, "seconds": 20.0, "loss": 1.6}, {"step": 2000, "seconds": 30.0, "loss": 1.49}]
    row: dict[str, Any] = {"recipe": "x", "side": "glassformer", "cached": False, "steps": 2000, "start": 5.0}
    row |= {"first": 20.0, "updates": 50.0, "whole": 78.0, "evaluations": seen}
    rows = [row | {"wanted": 1.5, "reached": seen[1]}, row | {"wanted": 1.4, "reached": None}]
    rows += [row | {"wanted": None, "reached": None, "cached": True}]
    shown = table({"rows": rows}, lang)[1:]
    assert shown[0] == ["x", "Glassformer", cache, "5.0 s", "20.0 s", "2,000", "50.0 s", "78.0 s", found]
    assert [line[-1] for line in shown[1:]] == [missed, "–"]
    assert shown[2][2] != cache


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is an accelerator")
@pytest.mark.parametrize("name", WHOLE_RUNS)
def test_without_an_accelerator_it_says_so(name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} is measured on an accelerator, and there is none here"):
        BENCHMARKS[name].run()
