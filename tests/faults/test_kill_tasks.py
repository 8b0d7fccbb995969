from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
import torch

from glassformer.runs import Run
from glassformer.runs.manifest import sha256
from glassformer.tasks import TASKS
from glassformer.train.begin import again, begin
from glassformer.train.loop import train
from tiny_tasks import tiny

KILLS, STEPS = 3, 60


def life(name: str, folder: Path, kill_at: int | None) -> int:
    """A process of its own that begins or goes on; killed once this many steps are saved. Its wait status."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            torch.set_num_threads(1)
            begun = (folder / "config.toml").is_file()
            keys = {"steps": STEPS, "save_every": 2, "evaluate_every": 20}
            list(train(again(folder) if begun else begin(tiny(name, train=keys), folder), resume=begun))
            status = 0
        finally:
            os._exit(status)
    while kill_at is not None:
        gone, status = os.waitpid(child, os.WNOHANG)
        if gone:
            return status
        saved = sorted(folder.glob("checkpoints/step-*"))
        if saved and int(saved[-1].name.removeprefix("step-")) >= kill_at:
            os.kill(child, signal.SIGKILL)
            break
        time.sleep(0.002)
    return os.waitpid(child, 0)[1]


@pytest.mark.slow
@pytest.mark.parametrize("name", TASKS)
def test_a_task_killed_three_times_ends_where_it_would_have_ended(name: str, tmp_path: Path) -> None:
    assert life(name, tmp_path / "whole", None) == 0
    for kill in range(KILLS):
        status = life(name, tmp_path / "killed", kill_at=10 + 15 * kill)
        assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    assert life(name, tmp_path / "killed", None) == 0
    whole, killed = Run.open(tmp_path / "whole"), Run.open(tmp_path / "killed")
    assert whole.last is not None and killed.last is not None and whole.last.name == killed.last.name
    for file in ("model.safetensors", "optimizer.safetensors", "random.safetensors"):
        assert sha256(killed.last / file) == sha256(whole.last / file), file
    times = ("tokens_per_second", "elapsed")
    ours, theirs = (
        [{key: value for key, value in line.items() if key not in times} for line in run.log.read()]
        for run in (whole, killed)
    )
    assert ours == theirs and killed.status["state"] == "finished"
