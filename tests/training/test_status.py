from __future__ import annotations

import math
import os
import re
from datetime import datetime
from pathlib import Path

import pytest

from glassformer.runs import Run
from glassformer.training.status import LogSummary, Lowest, block, clock_duration, status_rows, write_block
from glassformer.words import say
from small_run import run_config

LINES = [
    {"kind": "train", "step": 50, "epoch": 0, "loss": 5.0, "learning_rate": 1e-4},
    {"kind": "evaluation", "step": 50, "loss": 4.5, "best": True},
    {"kind": "train", "step": 100, "epoch": 1, "loss": 3.0, "learning_rate": 2e-4},
    {"kind": "evaluation", "step": 100, "loss": 4.75, "best": False},
    {"kind": "train", "step": 150, "epoch": 1, "loss": None, "learning_rate": 3e-4},
    {"kind": "averaged", "step": 150, "loss": 1.0},
]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    run = Run.create(tmp_path / "run", run_config(steps=1000, batch_tokens=2048, accumulate=2))
    run.write_status({"state": "running", "step": 150, "steps": 1000, "epoch": 1, "elapsed": 3725.5})
    return run


def test_the_log_in_a_few_numbers() -> None:
    standing = LogSummary(LINES)
    assert (standing.training.lowest, standing.training.step) == (3.0, 100)
    assert math.isnan(standing.training.latest)
    assert (standing.validation.latest, standing.validation.lowest, standing.validation.step) == (4.75, 4.5, 50)
    assert standing.learning_rate == 3e-4
    assert standing.steps_per_epoch == 100


def test_seen_line_by_line_it_is_the_same() -> None:
    standing = LogSummary()
    for line in LINES:
        standing.see(line)
    whole = LogSummary(LINES)
    assert standing.validation == whole.validation
    assert standing.steps_per_epoch == whole.steps_per_epoch


def test_a_loss_that_is_not_finite_is_never_the_lowest() -> None:
    lowest = Lowest()
    lowest.see(None, 1)
    assert str(lowest) == "–"
    lowest.see(2.0, 2)
    lowest.see(None, 3)
    assert (lowest.lowest, lowest.step) == (2.0, 2)


def test_the_block_says_everything(run: Run) -> None:
    rows = dict(re.split(r"\s{2,}", line, maxsplit=1) for line in block(run, LogSummary(LINES)).splitlines())
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}", rows.pop("last update"))
    assert rows == {
        "state": "running",
        "batch": "4,096 tokens",
        "learning rate": "3.000e-04 (inverse_sqrt)",
        "epochs": "about 10 in all",
        "mixed precision": "off (float32)",
        "step": "150 / 1,000",
        "epoch": "2",
        "training loss": "nan now, 3.0000 at best (step 100)",
        "validation loss": "4.7500 now, 4.5000 at best (step 50)",
        "elapsed": "1:02:05",
        "checkpoints": str(run.checkpoints_folder),
    }


def test_the_same_in_korean_with_the_values_in_one_column(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSFORMER_LANG", "ko")
    text = block(run, LogSummary(LINES))
    assert "상태         학습 중\n" in text
    assert "혼합 정밀도  끔(float32)\n" in text
    assert "검증 손실    현재 4.7500, 최저 4.5000(50스텝)\n" in text


def test_a_run_that_has_not_logged_yet(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", run_config(precision="bf16"))
    text = block(run, LogSummary())
    for line in ("state            running", "step             0 / 12", "training loss    –", "mixed precision  bf16"):
        assert f"{line}\n" in text


def test_what_is_known_better_counts_and_a_failure_is_named(run: Run) -> None:
    assert "step             160 / 1,000\n" in block(run, LogSummary(LINES), {"step": 160})
    run.write_status({**run.status, "error": "the disk is full"})
    assert "the disk is full" not in block(run, LogSummary(LINES))
    assert block(run, LogSummary(LINES), {"state": "failed"}).endswith("error            the disk is full\n")


def test_the_last_update_is_when_the_run_changed_wherever_it_is_shown(run: Run) -> None:
    run.write_status({**run.status, "state": "finished", "time": "2026-01-02T03:04:05+00:00"})
    label = "last update"
    shown = {
        status_rows(run, LogSummary(LINES), now, "en")[label] for now in (None, {"state": "finished"}, {"step": 150})
    }
    (moment,) = shown
    assert datetime.strptime(moment, "%Y-%m-%d %H:%M:%S %z").timestamp() == 1767323045


def test_a_run_of_an_older_version_changed_when_its_status_was_written(run: Run) -> None:
    os.utime(run.folder / "status.json", (1e9, 1e9))
    moment = status_rows(run, LogSummary(LINES), lang="en")["last update"]
    assert datetime.strptime(moment, "%Y-%m-%d %H:%M:%S %z").timestamp() == 1e9


@pytest.mark.parametrize("epoch", range(1, 30))
def test_no_epoch_is_beyond_all_of_them(epoch: int, run: Run) -> None:
    run.write_status({**run.status, "epoch": epoch})
    found = status_rows(run, LogSummary(LINES), lang="en")
    assert int(found["epoch"]) <= int(found["epochs"].split()[1])


@pytest.mark.parametrize("state", ["running", "finished", "early", "interrupted", "terminated", "failed"])
def test_every_state_has_its_words_and_is_written(state: str, run: Run) -> None:
    write_block(run, LogSummary(LINES), {"state": state})
    first = (run.folder / "status.txt").read_text(encoding="utf-8").splitlines()[0]
    assert first.split() == ["state", *say(f"watch.state.{state}", "en").split()]


@pytest.mark.parametrize(("seconds", "text"), [(0, "0:00:00"), (59.9, "0:00:59"), (360000, "100:00:00")])
def test_durations(seconds: float, text: str) -> None:
    assert clock_duration(seconds) == text
