from __future__ import annotations

import importlib.util
import time
from pathlib import Path

import pytest

from glassformer.training import board, events
from glassformer.training.board import Board

needs_tensorboard = pytest.mark.skipif(not Board.is_installed(), reason="tensorboard is not installed")


def logged(step: int, loss: float) -> events.Logged:
    return events.Logged(step, 0, loss, 1e-3, 0.5, 10 * step, 1000.0, 0, 1.0)


def scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    found = EventAccumulator(str(folder))
    found.Reload()
    return {tag: [(one.step, one.value) for one in found.Scalars(tag)] for tag in found.Tags()["scalars"]}


@needs_tensorboard
def test_lines_and_evaluations_become_scalars(tmp_path: Path) -> None:
    shown = Board(tmp_path, 0)
    shown.see(logged(2, 5.0))
    shown.see(events.Evaluated(2, {"loss": 4.0, "sample_bleu": 12.5}, True))
    shown.see(events.StepDone(3, 0, 1e-3, 30))
    shown.close()
    found = scalars(tmp_path)
    assert {tag: rows[0][0] for tag, rows in found.items()} == dict.fromkeys(
        [
            "train/loss",
            "train/learning_rate",
            "train/gradient_norm",
            "train/tokens_per_second",
            "validation/loss",
            "validation/sample_bleu",
        ],
        2,
    )
    assert found["train/loss"] == [(2, 5.0)]
    assert found["validation/sample_bleu"] == [(2, 12.5)]


@needs_tensorboard
def test_after_a_resume_no_step_appears_twice(tmp_path: Path) -> None:
    first = Board(tmp_path, 0)
    for step in (2, 4, 6, 8):
        first.see(logged(step, float(step)))
    first.close()
    time.sleep(1.1)  # files are read in the order of their names, which begin with the second
    second = Board(tmp_path, 4)  # steps 6 and 8 came after the last checkpoint
    for step in (6, 8, 10):
        second.see(logged(step, step + 0.5))
    second.close()
    assert scalars(tmp_path)["train/loss"] == [(2, 2.0), (4, 4.0), (6, 6.5), (8, 8.5), (10, 10.5)]


def test_whether_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Board.is_installed() == (importlib.util.find_spec("tensorboard") is not None)
    monkeypatch.setattr(board, "find_spec", lambda name: None)
    assert not Board.is_installed()
