"""Steps that are recorded and replayed, against steps that are computed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from glassformer.runs import Run
from glassformer.runs.weights import read_weights
from glassformer.training import events
from glassformer.training.loop import train
from small_run import job, run_config

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator"),
    pytest.mark.filterwarnings("ignore"),  # torch's own compiler warns about itself
]


def weights(folder: Path, steps: int, **keys: Any) -> dict[str, torch.Tensor]:
    run = Run.create(folder, run_config(device="cuda", steps=steps, deterministic=True, **keys))
    list(train(job(run)))
    return read_weights(run.checkpoint(steps))


@pytest.mark.parametrize("precision", ["float32", "bf16"])
def test_replayed_steps_are_the_computed_ones(precision: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = weights(tmp_path / "graphs", 12, compile=True, precision=precision)
    monkeypatch.setattr("glassformer.training.capture.MOST", 0)
    expected = weights(tmp_path / "eager", 12, compile=True, precision=precision)
    assert all(torch.equal(found[name], expected[name]) for name in expected)


def test_a_run_that_is_killed_and_resumed_ends_with_the_same_bits(tmp_path: Path) -> None:
    whole = weights(tmp_path / "whole", 12, compile=True, precision="bf16", save_every=4)
    keys: dict[str, Any] = {"deterministic": True, "compile": True, "precision": "bf16", "save_every": 4}
    run = Run.create(tmp_path / "cut", run_config(device="cuda", steps=12, **keys))
    for event in train(job(run)):
        if isinstance(event, events.Saved) and event.step == 8:
            break
    list(train(job(run), resume=True))
    cut = read_weights(run.checkpoint(12))
    assert all(torch.equal(whole[name], cut[name]) for name in whole)


def test_batches_without_padding_teach_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One step without dropout: the loss in one row is that of padded rows, to bf16's rounding."""
    losses = []
    for packed in (True, False):
        if not packed:
            monkeypatch.setattr("glassformer.tasks.translation.task.Translation.without_padding", lambda self, *_: self)
        config = run_config({"dropout": 0.0}, device="cuda", steps=4, log_every=1, compile=True, precision="bf16")
        run = Run.create(tmp_path / str(packed), config)
        list(train(replace(job(run))))
        losses.append([line["loss"] for line in run.log.read() if line["kind"] == "train"])
    assert losses[0] == pytest.approx(losses[1], rel=5e-3)
