from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from glassformer.config.recipe import RunConfig
from glassformer.data.ahead import DEPTH
from glassformer.data.batch import PairBatch
from glassformer.data.examples import Example
from glassformer.errors import FileError
from glassformer.runs import Run, write_manifest
from glassformer.tasks.translation.task import Translation
from glassformer.training.events import CheckpointRefused
from glassformer.training.state import TrainingState
from glassformer.training.validate import validate
from small_run import examples, run_config, small_model, trained, translation

CPU = torch.device("cpu")


def fresh(config: RunConfig, seed: int = 0) -> TrainingState:
    return TrainingState.begin(config, small_model(config), translation(config), examples(seed=seed), CPU)


def restored(trained_model: TrainingState, run: Run) -> tuple[list[Any], Path | None]:
    """The events, and what was returned."""
    events, generator = [], trained_model.restore(run)
    while True:
        try:
            events.append(next(generator))
        except StopIteration as stop:
            return events, stop.value


VARIANTS: dict[str, dict[str, Any]] = {
    "adam": {},
    "adamw": {"optimizer": "adamw"},
    "sgd": {"optimizer": "sgd"},
    "ema": {"ema": 0.9},
    "fp16": {"precision": "fp16"},
    "bf16": {"precision": "bf16"},
    "chunks": {"chunk": 10},
    "one micro-batch": {"accumulate": 1},
}


@pytest.mark.many
@pytest.mark.parametrize("name", VARIANTS)
def test_what_is_restored_goes_on_bit_for_bit(name: str, tmp_path: Path) -> None:
    config = run_config(**VARIANTS[name])
    run = Run.create(tmp_path / "run", config)
    one = fresh(config)
    for _ in range(5):
        one.advance()
    assert one.progress.position > 0  # in the middle of an epoch
    one.checkpoint().save(run.checkpoint(5))
    for _ in range(6):
        one.advance()
    ours = one.checkpoint()
    other = fresh(config)
    torch.manual_seed(99)
    assert restored(other, run) == ([], run.checkpoint(5))
    for _ in range(6):
        other.advance()
    theirs = other.checkpoint()
    assert ours.state == theirs.state
    for part in ("model", "optimizer", "random", "ema"):
        left, right = getattr(ours, part) or {}, getattr(theirs, part) or {}
        assert left.keys() == right.keys()
        assert all(torch.equal(left[key], right[key]) for key in left), part


@dataclass(frozen=True, kw_only=True)
class Noisy(Translation):
    """A task that hides tokens by chance, in training only."""

    drawn: list[float]

    def collate(self, examples: Sequence[Example], random: np.random.Generator | None = None) -> PairBatch:
        self.drawn.append(-1.0 if random is None else float(random.random()))
        if random is not None:
            examples = [(source[random.random(len(source)) < 0.7], target) for source, target in examples]
        return super().collate(examples)


def noisy(config: RunConfig) -> TrainingState:
    plain = translation(config)
    task = Noisy(pad=plain.pad, source=plain.source, target=plain.target, criterion=plain.criterion, drawn=[])
    return TrainingState.begin(config, small_model(config), task, examples(), CPU)


def test_chance_in_batches_goes_on_where_it_was(tmp_path: Path) -> None:
    config = run_config()
    run = Run.create(tmp_path / "run", config)
    one, other = noisy(config), noisy(config)
    for _ in range(5):
        one.advance()
    one.checkpoint().save(run.checkpoint(5))
    for _ in range(12):
        one.advance()
    assert restored(other, run) == ([], run.checkpoint(5))
    for _ in range(12):
        other.advance()
    drawn, again = one.task.drawn, other.task.drawn
    assert drawn[10:] == again and len(set(drawn)) == len(drawn) == 34  # every batch of every epoch its own
    left, right = one.model.state_dict(), other.model.state_dict()
    assert all(torch.equal(left[key], right[key]) for key in left)


def test_chance_in_batches_does_not_depend_on_how_many_make_a_step() -> None:
    drawn = {}
    for accumulate in (1, 2, 4):
        one = noisy(run_config(accumulate=accumulate))
        for _ in range(8 // accumulate):
            one.advance()
        drawn[accumulate] = one.task.drawn
    assert drawn[1] == drawn[2] == drawn[4]


def test_nothing_in_validation_is_left_to_chance() -> None:
    one = noisy(run_config())
    validate(one.stepper.parts, one.task, examples(20), one.config.train, CPU)
    assert set(one.task.drawn) == {-1.0}


def test_nothing_to_restore_is_the_beginning(tmp_path: Path) -> None:
    config = run_config()
    assert restored(fresh(config), Run.create(tmp_path / "run", config)) == ([], None)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return trained(tmp_path_factory.mktemp("runs") / "run", run_config(evaluate_every=0))[0]


def copy(run: Run, tmp_path: Path) -> Run:
    shutil.copytree(run.folder, tmp_path / "run")
    return Run(tmp_path / "run")


def truncate(path: Path) -> None:
    file = path / "optimizer.safetensors"
    file.write_bytes(file.read_bytes()[:-7])


def alter(path: Path) -> None:
    content = bytearray((path / "model.safetensors").read_bytes())
    content[-3] ^= 1
    (path / "model.safetensors").write_bytes(content)


def lose(path: Path) -> None:
    (path / "random.safetensors").unlink()


def empty(path: Path) -> None:
    shutil.rmtree(path)
    path.mkdir()


def from_the_future(path: Path) -> None:
    manifest = json.loads((path / "manifest.json").read_text())
    (path / "manifest.json").write_text(json.dumps(manifest | {"format": 3}))


def rewritten(path: Path, **changes: Any) -> None:
    """Another state under a manifest that fits it."""
    state = json.loads((path / "state.json").read_text())
    (path / "state.json").write_text(json.dumps(state | changes))
    (path / "manifest.json").unlink()
    write_manifest(path)


def of_another_model(path: Path) -> None:
    state = json.loads((path / "state.json").read_text())
    rewritten(path, origin=state["origin"] | {"model": "x"})


def of_another_data(path: Path) -> None:
    state = json.loads((path / "state.json").read_text())
    rewritten(path, origin=state["origin"] | {"data": "x"})


def without_progress(path: Path) -> None:
    rewritten(path, progress={"stepp": 3})


DAMAGES: dict[Callable[[Path], None], str] = {
    truncate: r"optimizer\.safetensors has \d+ bytes instead of \d+: it was cut off",
    alter: r"model\.safetensors is not what was written",
    lose: r"step-00000012 lacks random\.safetensors",
    empty: r"step-00000012 has no manifest\.json",
    from_the_future: r"step-00000012 has format 3, and this version reads up to 2",
    of_another_model: "step-00000012 was made with another model than this run has",
    of_another_data: "step-00000012 was made with another data than this run has",
    without_progress: "step-00000012 is not a checkpoint that training can go on from: .*stepp",
}


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_damaged_or_foreign_one_is_told_and_the_one_before_it_is_used(
    damage: Callable[[Path], None], finished: Run, tmp_path: Path
) -> None:
    run = copy(finished, tmp_path)
    damage(run.checkpoint(12))
    one = fresh(run_config(evaluate_every=0))
    events, path = restored(one, run)
    assert path == run.checkpoint(8)
    assert one.progress.step == 8
    assert [type(event) for event in events] == [CheckpointRefused]
    assert (events[0].path, events[0].instead) == (run.checkpoint(12), run.checkpoint(8))
    with pytest.raises(FileError, match=DAMAGES[damage]):
        raise events[0].error
    assert sorted(run.checkpoints_by_step()) == [4, 8]
    assert (run.checkpoints_folder / "refused-step-00000012").is_dir()


def test_where_none_is_left_nothing_is_touched(finished: Run, tmp_path: Path) -> None:
    run = copy(finished, tmp_path)
    one = fresh(run_config(evaluate_every=0), seed=5)  # other data than it was trained on
    with pytest.raises(
        FileError, match=r"run holds checkpoints, 3 of them, and none can be used; the newest: .*step-00000012"
    ):
        restored(one, run)
    assert sorted(run.checkpoints_by_step()) == [4, 8, 12]


def test_weights_of_another_shape_under_the_right_name(finished: Run, tmp_path: Path) -> None:
    run = copy(finished, tmp_path)
    config = run_config(evaluate_every=0)
    one = TrainingState.begin(config, small_model(run_config({"d_ff": 64})), translation(config), examples(), CPU)
    with pytest.raises(FileError, match="none can be used"):
        restored(one, run)


def test_an_average_begins_with_the_weights_where_there_was_none(finished: Run, tmp_path: Path) -> None:
    run = copy(finished, tmp_path)
    one = fresh(run_config(evaluate_every=0, ema=0.9))
    _, path = restored(one, run)
    assert path is not None and one.ema is not None
    live = dict(one.model.named_parameters())
    assert all(torch.equal(value, live[name]) for name, value in one.ema.average.items())


def test_a_closed_state_goes_on_with_the_batch_after_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was prepared and not taken is prepared again."""
    config = run_config()
    plain, ahead = fresh(config), fresh(config)
    torch.manual_seed(0)  # dropout
    for _ in range(DEPTH + 5):
        plain.advance()
    monkeypatch.setattr(TrainingState, "prepares_ahead", True)
    torch.manual_seed(0)
    for steps in (2, DEPTH + 3):
        for _ in range(steps):
            ahead.advance()
        ahead.close()
    assert ahead.progress.place == plain.progress.place
    weights = zip(ahead.model.parameters(), plain.model.parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in weights)
