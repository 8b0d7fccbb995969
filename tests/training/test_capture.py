"""Steps that are recorded and replayed, against steps that are computed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from glassformer.config.recipe import RunConfig
from glassformer.errors import GlassformerWarning
from glassformer.runs import Run
from glassformer.runs.weights import read_weights
from glassformer.tasks.translation.task import Translation
from glassformer.training import events
from glassformer.training.capture import StepGraphs
from glassformer.training.loop import Training, train
from small_run import job, run_config, translation

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator"),
    pytest.mark.filterwarnings("ignore"),  # torch's own compiler warns about itself
]


@pytest.fixture(autouse=True)
def recorded(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """The shapes of steps that were recorded: a test of replaying must replay something."""
    torch.compiler.reset()  # no test depends on what was compiled for another
    shapes: list[tuple[Any, ...]] = []
    record = StepGraphs._record

    def watched(self: StepGraphs, shape: tuple[Any, ...], batches: list[Any]) -> Any:
        found = record(self, shape, batches)
        shapes.extend([] if found is None else [shape])
        return found

    monkeypatch.setattr(StepGraphs, "_record", watched)
    return shapes


def config(steps: int, **keys: Any) -> RunConfig:
    """Few shapes: each comes often enough to be recorded."""
    few: dict[str, Any] = {"pad_to": 16, "accumulate": 1, "deterministic": True, "device": "cuda", "compile": True}
    return run_config(steps=steps, **few | keys)


def begun(run: Run) -> Training:
    return job(run, task=translation(run.config, pad_to=run.config.train.pad_to))


def weights(folder: Path, steps: int, **keys: Any) -> dict[str, torch.Tensor]:
    run = Run.create(folder, config(steps, **keys))
    list(train(begun(run)))
    return read_weights(run.checkpoint(steps))


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


VARIANTS: dict[str, dict[str, Any]] = {
    "float32": {},
    "bf16": {"precision": "bf16"},
    "fp16": {"precision": "fp16"},
    "two micro-batches": {"precision": "bf16", "accumulate": 2},
    "sgd": {"optimizer": "sgd"},
    "ema": {"ema": 0.9},
}


@pytest.mark.parametrize("name", VARIANTS)
def test_replayed_steps_are_the_computed_ones(
    name: str, tmp_path: Path, recorded: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = weights(tmp_path / "graphs", 16, **VARIANTS[name])
    assert recorded
    monkeypatch.setattr("glassformer.training.capture.MOST", 0)
    assert same(found, weights(tmp_path / "eager", 16, **VARIANTS[name]))


@pytest.mark.parametrize("precision", ["float32", "bf16"])
def test_a_run_that_is_killed_and_resumed_ends_with_the_same_bits(
    precision: str, tmp_path: Path, recorded: list[Any]
) -> None:
    """Steps that the whole run replays are computed in the resumed one: the same random numbers either way."""
    whole = weights(tmp_path / "whole", 16, precision=precision, save_every=4)
    assert recorded
    run = Run.create(tmp_path / "cut", config(16, precision=precision, save_every=4))
    for event in train(begun(run)):
        if isinstance(event, events.Saved) and event.step == 12:
            break
    list(train(begun(run), resume=True))
    assert same(whole, read_weights(run.checkpoint(16)))


def test_a_step_that_cannot_be_recorded_is_computed_and_that_is_said(
    tmp_path: Path, recorded: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Waiting for the device ends the recording; dropout draws its random numbers afterwards as if nothing had been."""
    loss = Translation.loss

    def waiting(self: Translation, model: torch.nn.Module, batch: Any) -> Any:
        found = loss(self, model, batch)
        assert float(found.total) > 0
        return found

    monkeypatch.setattr(Translation, "loss", waiting)
    with pytest.warns(GlassformerWarning, match="cannot be recorded"):
        found = weights(tmp_path / "refused", 16)
    assert not recorded
    monkeypatch.setattr("glassformer.training.capture.MOST", 0)
    assert same(found, weights(tmp_path / "eager", 16))


def test_a_full_memory_takes_that_of_the_graphs(
    tmp_path: Path, recorded: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first step that is computed after one was recorded finds no memory: it is begun again without graphs."""
    compute, told = StepGraphs._compute, []

    def full(self: StepGraphs, batches: Any) -> None:
        real = self.compute

        def refusing(*given: object) -> None:
            self.compute = real
            torch.rand(3, device="cuda")  # what was drawn is drawn again
            raise torch.OutOfMemoryError("CUDA out of memory")

        if self.recorded and not told:
            told.append(len(self.recorded))
            self.compute = refusing
        compute(self, batches)

    monkeypatch.setattr(StepGraphs, "_compute", full)
    found = weights(tmp_path / "full", 24, pad_to=4)
    assert recorded and told
    monkeypatch.setattr("glassformer.training.capture.MOST", 0)
    assert same(found, weights(tmp_path / "eager", 24, pad_to=4))


def test_batches_without_padding_teach_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without dropout: the loss in one row is that of padded rows, to bf16's rounding."""
    losses = []
    for packed in (True, False):
        if not packed:
            monkeypatch.setattr("glassformer.tasks.translation.task.Translation.of_one_size", lambda self, *_: self)
        keys: dict[str, Any] = {"device": "cuda", "steps": 8, "log_every": 1, "compile": True, "precision": "bf16"}
        run = Run.create(tmp_path / str(packed), run_config({"dropout": 0.0}, **keys))
        list(train(job(run)))
        losses.append([line["loss"] for line in run.log.read() if line["kind"] == "train"])
    assert losses[0] == pytest.approx(losses[1], rel=5e-3)
