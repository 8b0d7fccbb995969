"""Steps that are recorded and replayed, against steps that are computed."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from glassformer.config.recipe import RunConfig
from glassformer.config.values import Choice
from glassformer.data.store import Store
from glassformer.data.stream import Stream
from glassformer.errors import GlassformerWarning
from glassformer.losses import make_loss
from glassformer.runs import Run
from glassformer.runs.weights import read_weights
from glassformer.tasks.classification.task import Classification
from glassformer.tasks.language_model.task import LanguageModel, WindowOptions
from glassformer.tasks.translation.task import Translation
from glassformer.training import events
from glassformer.training.capture import MOST, StepGraphs
from glassformer.training.job import Training
from glassformer.training.loop import train
from small_run import VOCABULARY, examples, job, run_config, translation

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


# --- uncompiled: what a compiler takes for a constant is computed, and must not come from the host ---

Made = tuple[RunConfig, dict[str, Any]]  # a recipe; what its job has in the place of a translator's


def translating(**keys: Any) -> Made:
    made = config(16, compile=False, **keys)
    return made, {"task": translation(made, pad_to=made.train.pad_to)}


def writing(model: dict[str, Any], **keys: Any) -> Made:
    """Windows of 8 tokens; the last batch of an epoch is filled up."""
    made = run_config(
        {"family": "decoder", "n_encoder_layers": None, "tie_embeddings": "output", **model},
        steps=16,
        device="cuda",
        compile=False,
        deterministic=True,
        **keys,
    )
    rows = np.random.default_rng(0).integers(0, VOCABULARY, 500).astype(np.int32)
    task = LanguageModel(reading=WindowOptions(context=8), criterion=make_loss("cross_entropy", {}))
    return made, {"task": task, "training": Stream.of(rows, 8), "validation": None}


def classifying(loss: str, weights: list[float], **keys: Any) -> Made:
    """Weights of the classes are numbers of the recipe, not of the batch."""
    head = Choice("classifier", {"classes": 1 if loss == "binary_cross_entropy" else 2})
    model = {"family": "encoder", "n_decoder_layers": None, "head": head, "tie_embeddings": "none"}
    made = run_config(model, steps=16, device="cuda", compile=False, deterministic=True, **keys)
    task = Classification(labels=("a", "b"), pad=0, criterion=make_loss(loss, {"weights": weights}), pad_to=16)
    some = examples()
    texts = [some[i][0][:2] for i in range(len(some))]  # of one length, so that batches of one shape come again
    labels = [[int(text[0]) % 2] for text in texts]
    return made, {"task": task, "training": Store.of({"text": texts, "label": labels}), "validation": None}


UNCOMPILED: dict[str, Callable[[], Made]] = {
    "padded": lambda: translating(),
    "padded, bf16": lambda: translating(precision="bf16"),
    "packed": lambda: translating(precision="bf16", accumulate=2),
    "fp16": lambda: translating(precision="fp16"),
    "ema": lambda: translating(ema=0.9),
    "post-norm, learned positions": lambda: writing({"norm_order": "post", "position": "learned"}, precision="bf16"),
    "language model": lambda: writing({}, precision="bf16"),
    "language model, float32": lambda: writing({}),
    "rotary": lambda: writing({"position": "rotary"}, precision="bf16"),
    "alibi": lambda: writing({"position": "alibi"}, precision="bf16"),
    "relative": lambda: writing({"position": "relative"}, precision="bf16"),
    "window": lambda: writing({"window": 4}, precision="bf16"),
    "classification": lambda: classifying("cross_entropy", [0.5, 2.0]),
    "focal": lambda: classifying("focal", [0.5, 2.0], precision="bf16"),
    "one logit": lambda: classifying("binary_cross_entropy", [0.5, 2.0]),
}


@pytest.mark.parametrize("name", UNCOMPILED)
def test_uncompiled_steps_are_replayed_as_they_are_computed(
    name: str, tmp_path: Path, recorded: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    if name.startswith("padded"):
        monkeypatch.setattr("glassformer.tasks.translation.task.Translation.of_one_size", lambda self, *_: self)
    found = []
    for most in (MOST, 0):
        monkeypatch.setattr("glassformer.training.capture.MOST", most)
        made, parts = UNCOMPILED[name]()
        run = Run.create(tmp_path / str(most), made)
        with warnings.catch_warnings():
            warnings.simplefilter("error", GlassformerWarning)  # "cannot be recorded"
            list(train(job(run, **parts)))
        found.append(read_weights(run.checkpoint(16)))
        assert bool(recorded) == bool(most)
        recorded.clear()
    assert same(*found)


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
