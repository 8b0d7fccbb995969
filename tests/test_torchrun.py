"""The commands as people start them on several devices: by PyTorch's own torchrun."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from glassformer.config.toml import to_toml
from glassformer.errors import RankError
from glassformer.runs import Run
from glassformer.runs.shards import is_sharded
from glassformer.torchrun import GIVEN_BY_TORCHRUN, TIMEOUT, hush, ranks_here, under_torchrun
from once import once
from pairs import free_port
from tiny_tasks import TINY

TORCHRUN = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
RUN = TINY["translation"] | {"train": TINY["translation"]["train"] | {"accumulate": 1, "steps": 12, "save_every": 3}}


def environment() -> dict[str, str]:
    paths = os.pathsep.join(sys.path)
    return {
        **os.environ,
        "PYTHONPATH": paths,
        "OMP_NUM_THREADS": "1",
        "CUDA_VISIBLE_DEVICES": "",
        "GLASSFORMER_LANG": "en",
    }


def torchrun(*words: str, more: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    command = (*TORCHRUN, *more, "-m", "glassformer", *words)
    return subprocess.run(command, capture_output=True, text=True, env=environment())


def ours(text: str) -> list[str]:
    """What our ranks say, without torchrun's own report."""
    lines = [line for line in text.splitlines() if line.strip()]
    end = next((i for i, line in enumerate(lines) if line.startswith("Traceback")), len(lines))
    return [line for line in lines[:end] if "torch/distributed" not in line and not line.startswith("*****")]


def recipe(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "tiny.toml"
    path.write_text("\n".join(to_toml({name: table}) for name, table in RUN.items()))
    return path


def trained(folder: Path) -> None:
    done = torchrun(
        "train", str(recipe(folder)), "--out", str(folder / "run"), "--set", "train.parallel=fsdp", "--json"
    )
    assert done.returncode == 0, done.stderr[-3000:]
    (folder / "said.json").write_text(done.stdout)


@pytest.fixture
def run() -> Run:
    return Run.open(once("torchrun-fsdp", trained) / "run")


@pytest.mark.slow
def test_two_ranks_train_one_run_and_one_of_them_speaks(run: Run) -> None:
    said = json.loads((run.folder.parent / "said.json").read_text())
    assert said["reason"] == "finished" and said["step"] == 12
    assert run.config.train.ranks == 2 and run.environment["ranks"] == 2
    assert run.last is not None and is_sharded(run.last)
    assert [line["step"] for line in run.log.read() if line["kind"] == "train"] == [2, 4, 6, 8, 10, 12]


@pytest.mark.slow
def test_two_ranks_evaluate_as_one_does(tmp_path: Path, run: Run) -> None:
    shutil.copytree(run.folder, tmp_path / "run")
    words = ("evaluate", str(tmp_path / "run"), "--split", "test", "--json")
    alone = subprocess.run(
        [sys.executable, "-m", "glassformer", *words], capture_output=True, text=True, env=environment(), check=True
    )
    both = torchrun(*words)
    assert both.returncode == 0, both.stderr[-3000:]
    one, two = json.loads(alone.stdout), json.loads(both.stdout)
    assert two.pop("readings") == one.pop("readings") + 1  # one of the two has written it down
    assert two == one


@pytest.mark.slow
def test_what_is_wrong_is_said_once(tmp_path: Path, run: Run) -> None:
    unknown = torchrun("train", "no-such-recipe", "--out", str(tmp_path / "run"))
    assert unknown.returncode == 1
    (line,) = [each for each in ours(unknown.stderr) if "no-such-recipe" in each]
    assert "is neither a recipe nor a TOML file" in line
    again = torchrun("train", str(run.folder.parent / "tiny.toml"), "--out", str(run.folder))
    assert sum("holds a run already" in each for each in ours(again.stderr)) == 1
    third = subprocess.run(
        [*TORCHRUN[:-1], "3", "-m", "glassformer", "train", str(run.folder), "--steps", "15"],
        capture_output=True,
        text=True,
        env=environment(),
    )
    said = [each for each in ours(third.stderr) if "micro-batches of a step cannot be shared among 3 ranks" in each]
    assert third.returncode == 1 and len(said) == 1


@pytest.mark.slow
def test_a_dry_run_is_shown_once(tmp_path: Path) -> None:
    done = torchrun("train", str(recipe(tmp_path)), "--out", str(tmp_path / "run"), "--dry-run", "--json")
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout)["parameters"] == 25_344 and not (tmp_path / "run").exists()


@pytest.mark.slow
@pytest.mark.parametrize("parallel", ["ddp", "fsdp"])
def test_a_lost_rank_starts_all_again_from_the_last_checkpoint(tmp_path: Path, parallel: str) -> None:
    out = tmp_path / "run"
    command = (*TORCHRUN, "--max-restarts", "1", "-m", "glassformer", "train", str(recipe(tmp_path)), "--out", str(out))
    more = ("--resume", "--steps", "60", "--set", f"train.parallel={parallel}")
    with subprocess.Popen(
        (*command, *more), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    ) as process:
        while not (out / "checkpoints" / "step-00000006").is_dir():
            assert process.poll() is None, process.stderr and process.stderr.read()[-3000:]
            time.sleep(0.02)
        os.kill(second_rank(str(out)), signal.SIGKILL)
        said, complained = process.communicate()
        assert process.returncode == 0, complained[-3000:]
    assert sum("goes on from step" in line for line in said.splitlines()) == 1
    assert f"25,344 parameters, 60 steps, on 2 × cpu ({parallel})" in said
    gone = [line for line in ours(complained) if line.startswith("rank ")]
    assert gone and "rank 1 of 2 has ended without a word" in gone[0], complained[-3000:]
    run = Run.open(out)
    assert run.status["state"] == "finished"
    steps = [line["step"] for line in run.log.read() if line["kind"] == "train"]
    assert steps == sorted(set(steps)) and steps[-1] == 60


def second_rank(out: str) -> int:
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                words = (folder / "cmdline").read_bytes().decode().split("\0")
                told = (folder / "environ").read_bytes().decode().split("\0")
            except OSError:
                continue
            if out in words and "RANK=1" in told:
                return int(folder.name)
    raise AssertionError("there is no second rank")


@pytest.mark.slow
def test_a_sweep_gives_each_rank_trials_of_its_own(tmp_path: Path) -> None:
    out, given = tmp_path / "sweep", ("--vary", "train.learning_rate=0.001,0.003", "--set", "train.steps=4", "--json")
    done = torchrun("sweep", str(recipe(tmp_path)), *given, "--out", str(out))
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout)
    assert found == json.loads((out / "sweep.json").read_text())
    runs = [Run.open(path.parent) for path in sorted(out.rglob("config.toml"))]
    assert [one.status["state"] for one in runs] == ["finished", "finished"]
    assert all(one.config.train.ranks is None for one in runs)


def test_a_time_limit_is_a_number_of_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    given = dict(zip(GIVEN_BY_TORCHRUN, ("0", "2", "0", "127.0.0.1", "1"), strict=True))
    for name, value in {**given, TIMEOUT: "soon"}.items():
        monkeypatch.setenv(name, value)
    assert under_torchrun()
    message = "GLASSFORMER_RANK_TIMEOUT='soon' is not a number of seconds above 0; write 600, for example"
    with pytest.raises(RankError, match=message), ranks_here():
        pass


@pytest.mark.parametrize(
    ("name", "value"), [("RANK", "first"), ("RANK", "2"), ("WORLD_SIZE", "-1"), ("MASTER_PORT", "")]
)
def test_what_torchrun_sets_is_a_number(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = dict(zip(GIVEN_BY_TORCHRUN, ("0", "2", "0", "127.0.0.1", "1"), strict=True))
    for key, text in {**given, name: value}.items():
        monkeypatch.setenv(key, text)
    with pytest.raises(RankError, match=f"^{name}='{value}' is no number that ranks can start with"), ranks_here():
        pass


@pytest.mark.slow
def test_who_cannot_meet_the_others_says_so_in_one_line(tmp_path: Path) -> None:
    given = dict(zip(GIVEN_BY_TORCHRUN, ("1", "2", "1", "127.0.0.1", str(free_port())), strict=True))
    command = [sys.executable, "-m", "glassformer", "train", "ko-en", "--out", str(tmp_path / "run")]
    done = subprocess.run(command, capture_output=True, text=True, env={**environment(), **given, TIMEOUT: "1"})
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1), done.stderr
    assert done.stderr.startswith("rank 1 of 2 cannot meet the others at 127.0.0.1:")


LATE = """
import os, signal
from glassformer.torchrun import ranks_here

class Late:
    def __init__(self):
        self.me = self  # collected at the end

    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        sum(range(10**6))

with ranks_here(always=True):
    Late()
print("ended")
"""


@pytest.mark.slow
def test_a_signal_does_not_break_into_the_end() -> None:
    given = dict(zip(GIVEN_BY_TORCHRUN, ("0", "1", "0", "127.0.0.1", str(free_port())), strict=True))
    command = [sys.executable, "-c", LATE]
    done = subprocess.run(command, capture_output=True, text=True, env={**environment(), **given})
    assert (done.returncode, done.stdout, done.stderr) == (0, "ended\n", "")


def test_only_torchrun_silences_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TORCH_CPP_LOG_LEVEL", raising=False)
    hush()
    assert "TORCH_CPP_LOG_LEVEL" not in os.environ
    assert not under_torchrun({"RANK": "0"})
