from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import pairs
from glassformer.losses import LOSSES, Sum
from glassformer.tasks import TASKS
from glassformer.training.parallel import Spread, lying, room_for
from once import once
from small_run import examples, run_config, small_model, translation
from tiny_tasks import tiny


def spread_runs(folder: Path) -> None:
    """Every task on one rank and on two, all from one process: its imports take longer than their steps."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, pairs.__file__, str(folder)]
    ran = subprocess.run(command, stderr=subprocess.PIPE, text=True, env={**environment, "CUDA_VISIBLE_DEVICES": ""})
    assert ran.returncode == 0, ran.stderr[-3000:]


def found(case: str, name: str) -> list[list[float]]:
    values: list[list[float]] = json.loads((once("spread-runs", spread_runs) / case / f"{name}.json").read_text())
    return values


@pytest.mark.slow
@pytest.mark.parametrize("parallel", ["ddp", "fsdp"])
@pytest.mark.parametrize("each", pairs.EACH)
@pytest.mark.parametrize("case", pairs.CASES)
def test_two_ranks_are_one_with_twice_the_micro_batches(case: str, each: int, parallel: str) -> None:
    """First F7 for ranks: losses, gradient norms, targets and evaluations of every step, to 1e-12 in float64."""
    one, two = found(case, f"one-{each}"), found(case, f"{parallel}-{each}")
    assert len(one) == len(two) == 4 + 2  # steps and evaluations
    for expected, given in zip(one, two, strict=True):
        assert given == pytest.approx(expected, rel=1e-12, abs=1e-12)
    losses = [loss for _, loss, *more in one if len(more) == 2]
    assert len(set(losses)) == len(losses), "nothing was learned"


@pytest.mark.slow
def test_two_micro_batches_of_two_ranks_are_another_step_than_one() -> None:
    """The comparison above can fail: twice the micro-batches take another step."""
    one, two = found("translation", "one-1"), found("translation", "ddp-2")
    assert two[0] != pytest.approx(one[0], rel=1e-6)


def test_every_loss_is_among_them() -> None:
    configs = [tiny(kind, train=more) for kind, more in pairs.CASES.values()]
    assert {config.train.loss.kind for config in configs} == {*LOSSES}
    assert {config.task.kind for config in configs} == {*TASKS}


def test_on_one_device_it_is_the_task_itself() -> None:
    config = run_config()
    model, task, store = small_model(config), translation(config), examples(6)
    model.eval()
    batch = task.collate([store[i] for i in range(6)])
    spread = Spread.on_one(model, task)
    assert torch.equal(spread.loss(batch), task.loss(model, batch).total)
    scores = spread.scores(batch, task)
    assert isinstance(scores["loss"], Sum) and torch.equal(
        scores["loss"].total, task.scores(model, batch)["loss"].total
    )
    assert spread.on_first() is model and not spread.is_cut
    assert spread.added_up(torch.tensor(3.0)) == 3.0


def test_whole_tensors_lie_as_they_are() -> None:
    x, like = torch.ones(3), torch.zeros(3)
    assert lying({"w": x}, {"w": like}.get)["w"] is x
    assert lying({"new": x}, {"w": like}.get)["new"] is x
    assert room_for((3,), torch.float64, like).dtype == torch.float64
    assert room_for((), torch.float32, like).shape == ()
