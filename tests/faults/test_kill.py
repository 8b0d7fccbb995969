from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from glassformer.runs import Run
from glassformer.runs.manifest import sha256, verify
from glassformer.tasks import TASKS
from once import once

NURSERY, LIVES = (Path(__file__).with_name(name) for name in ("nursery.py", "lives.py"))


def environment() -> dict[str, str]:
    """Of the forked processes: one thread, and no accelerator, which does not outlive a fork."""
    paths = os.pathsep.join(sys.path)
    return {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}


def log(run: Run) -> list[dict[str, Any]]:
    times = ("tokens_per_second", "elapsed")
    return [{key: value for key, value in line.items() if key not in times} for line in run.log.read()]


@pytest.mark.slow
def test_killed_anywhere_it_goes_on_bit_for_bit(tmp_path: Path) -> None:
    """First F6: SIGKILL by random delay, inside saves and inside accumulations; the weights of an uninterrupted run."""
    command = [sys.executable, str(NURSERY), str(tmp_path), "0"]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment())
    assert ran.returncode == 0, ran.stderr
    lives = json.loads(ran.stdout)
    assert not any(life["failed"] for life in lives), ran.stderr
    deaths = [life for life in lives if life["killed"]]
    assert len(deaths) >= 20
    assert sum(life["saving"] for life in deaths) >= 2, "no kill hit a save"
    assert sum(life["micro"] > 0 for life in deaths) >= 2, "no kill hit an accumulation"
    whole = Run.open(tmp_path / "whole")
    for folder in sorted(tmp_path.glob("killed-*")):
        assert_same(Run.open(folder), whole)


def killed_tasks(folder: Path) -> None:
    """All tasks from one process: its imports take longer than their lives."""
    folder.mkdir()
    ran = subprocess.run(
        [sys.executable, str(LIVES), str(folder)], stderr=subprocess.PIPE, text=True, env=environment()
    )
    assert ran.returncode == 0, ran.stderr


@pytest.mark.slow
@pytest.mark.parametrize("kind", TASKS)
def test_every_task_survives_three_kills(kind: str) -> None:
    folder = once("killed-tasks", killed_tasks)
    lives = json.loads((folder / "lives.json").read_text())
    assert lives[kind] == {"deaths": 3, "whole": 0, "last": 0}
    assert_same(Run.open(folder / kind / "killed"), Run.open(folder / kind / "whole"))


def assert_same(killed: Run, whole: Run) -> None:
    assert [path.name for path in killed.checkpoints] == [path.name for path in whole.checkpoints]
    for path in killed.checkpoints:
        verify(path)
    assert whole.last is not None and killed.last is not None
    for file in ("model.safetensors", "ema.safetensors", "optimizer.safetensors", "random.safetensors"):
        assert sha256(killed.last / file) == sha256(whole.last / file), file
    assert sha256(killed.averaged_folder / "model.safetensors") == sha256(whole.averaged_folder / "model.safetensors")
    assert log(killed) == log(whole)
    assert killed.best is not None and whole.best is not None and killed.best.name == whole.best.name
    assert killed.status["state"] == "finished"
    assert not list(killed.folder.rglob(".tmp-*"))
