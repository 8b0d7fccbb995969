from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch

from glassformer.config.recipe import RunConfig
from glassformer.errors import ConfigError, FileError
from glassformer.loading import load
from glassformer.runs import Run
from glassformer.tasks.evaluation import evaluate
from glassformer.training import events
from glassformer.training.begin import again, begin
from glassformer.training.loop import train
from glassformer.training.start import FOLDER, open_start, put_weights, take
from tiny_tasks import tiny

TASK = "masked_language_model"


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("start") / "first"
    list(train(begin(tiny(TASK), folder)))
    return folder


def from_it(trained: Path, **tables: dict[str, object]) -> RunConfig:
    """A run that starts there, with other sentences, another vocabulary in its recipe, and another head."""
    head = {"kind": "language_model", "transform": False, "bias": True}
    changes: dict[str, dict[str, object]] = {
        "model": {"head": head},
        "data": {"seed": 7},
        "text": {"vocab_size": 30, "begin": "cls", "end": "sep"},
        "train": {"start": str(trained)},
    }
    return tiny(TASK, **{name: table | tables.get(name, {}) for name, table in changes.items()})


def test_what_fits_is_taken_and_the_rest_is_new(trained: Path, tmp_path: Path) -> None:
    job, theirs = begin(from_it(trained), tmp_path / "run"), load(trained)
    ours, start = job.model.state_dict(), job.start
    assert start is not None and (start.model, start.checkpoint) == (str(trained), theirs.checkpoint.name)
    assert set(start.taken) == set(ours) and start.new == ()
    assert start.left == ("head.transform.weight", "head.transform.bias", "head.norm.weight", "head.norm.bias")
    assert all(torch.equal(ours[name], theirs.model.state_dict()[name]) for name in start.taken)


def test_another_shape_is_new(trained: Path, tmp_path: Path) -> None:
    job = begin(from_it(trained, model={"d_ff": 48}), tmp_path / "run")
    assert job.start is not None
    assert job.start.new == tuple(
        f"encoder.blocks.0.feed_forward.{name}" for name in ("w_1.weight", "w_1.bias", "w_2.weight")
    )


def test_the_tokenizer_comes_along(trained: Path, tmp_path: Path) -> None:
    job = begin(from_it(trained), tmp_path / "run")
    kept = [folder / "tokenizer" / "tokenizer.json" for folder in (trained, job.run.folder)]
    assert kept[0].read_bytes() == kept[1].read_bytes()
    assert job.recipe.model.vocab_size == 120


def test_it_is_said_once(trained: Path, tmp_path: Path) -> None:
    job = begin(from_it(trained), tmp_path / "run")
    happened = list(train(job))
    assert [event for event in happened if isinstance(event, events.StartedFrom)] == [events.StartedFrom(job.start)]
    resumed = again(tmp_path / "run", {"train.steps": 10})
    assert not [event for event in train(resumed, resume=True) if isinstance(event, events.StartedFrom)]


@pytest.mark.slow
def test_a_run_begins_again_without_the_model_it_came_from(trained: Path, tmp_path: Path) -> None:
    """Killed before its first checkpoint, with the other folder gone: bit for bit what it would have been."""
    first = tmp_path / "first"
    shutil.copytree(trained, first)
    one, other = (begin(from_it(first), tmp_path / name) for name in ("one", "other"))
    shutil.rmtree(first)
    list(train(one))
    resumed = again(other.run.folder)
    assert resumed.start == one.start
    list(train(resumed, resume=True))
    ours, theirs = one.model.state_dict(), resumed.model.state_dict()
    assert all(torch.equal(value, theirs[name]) for name, value in ours.items())


def test_a_copy_that_was_changed_is_refused(trained: Path, tmp_path: Path) -> None:
    run = begin(from_it(trained), tmp_path / "run").run
    weights = run.folder / FOLDER / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"x")
    with pytest.raises(FileError, match="is not what was written"):
        again(run.folder)


def test_a_model_that_has_nothing_in_common_is_refused(trained: Path, tmp_path: Path) -> None:
    config = from_it(trained, model={"d_model": 16, "d_ff": 32})
    with pytest.raises(ConfigError, match=r"no matrix of it fits this model, embedding\.\S+ for example"):
        begin(config, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_model_that_is_not_there_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="gone is not a run"):
        begin(from_it(tmp_path / "gone"), tmp_path / "run")


def test_most_runs_start_from_nothing(trained: Path) -> None:
    config = tiny(TASK)
    run = Run.open(trained)
    assert open_start(config) is None and put_weights(run, load(trained).model) is None
    start, tensors = take(load(trained), run.config.model)
    assert (start.new, start.left) == ((), ()) and set(tensors) == set(start.taken)


FEW = {"source": {"kind": "grammar", "count": 120, "test": 60}, "validation": 0}


def pretraining(folder: Path, steps: int) -> Path:
    """A model that has filled in Korean sentences without labels for so many steps."""
    data = {"source": {"kind": "grammar", "count": 4000, "test": 0}, "validation": 0}
    text = {"tokenizer": "bpe", "vocab_size": 700}
    changes = {"steps": steps, "batch_tokens": 1024, "accumulate": 1, "evaluate_every": 0, "save_every": steps}
    list(train(begin(tiny(TASK, data=data, text=text, model=BODY, train=changes | {"pool": 1}), folder)))
    return folder


BODY = {"d_model": 64, "n_heads": 4, "d_ff": 128, "n_encoder_layers": 2, "n_decoder_layers": 0}


@pytest.mark.slow
def test_few_labels_are_enough_after_pretraining(tmp_path: Path) -> None:
    """The same model, tokenizer, labels and steps; three seeds of each, on combinations that no label was seen for."""
    right: dict[str, list[float]] = {}
    for name, steps in (("untrained", 1), ("pretrained", 500)):
        first = pretraining(tmp_path / name, steps)
        for seed in range(3):
            changes = {"start": str(first), "steps": 100, "accumulate": 1, "batch_tokens": 512, "seed": seed}
            changes |= {"evaluate_every": 0, "save_every": 100, "learning_rate": 1e-3}
            config = tiny("classification", data=FEW | {"seed": seed}, model=BODY, train=changes)
            job = begin(config, tmp_path / f"{name}-{seed}")
            assert job.start is not None and {new.split(".")[0] for new in job.start.new} == {"head"}
            list(train(job))
            right.setdefault(name, []).append(evaluate(job.run.folder, "test").total.accuracy.value)
    assert sum(right["pretrained"]) / 3 > sum(right["untrained"]) / 3, right
