from __future__ import annotations

from collections import Counter
from math import log
from pathlib import Path
from typing import Any

import pytest
import torch

from glassformer.data.batch import Batch
from glassformer.data.stream import StreamBatch
from glassformer.errors import ConfigError, FileError
from glassformer.loading import load
from glassformer.models.build import build
from glassformer.models.check import check
from glassformer.runs import Run
from glassformer.tasks import TASKS, Material
from glassformer.training import events
from glassformer.training.begin import again, begin
from glassformer.training.loop import train
from glassformer.training.meter import Meter
from glassformer.training.optimizer import make_optimizer
from glassformer.training.precision import LossScale
from glassformer.training.state import TrainingState
from glassformer.training.step import Stepper
from glassformer.training.watch import NotShown, train_watched
from glassformer.words import LANGUAGES, sentences
from marks import first_is_fast
from tiny_tasks import BY_HEART, TINY, tiny

CPU = torch.device("cpu")


def material(name: str, **model: Any) -> Material:
    return TASKS[name].task.begin(tiny(name, model=model))


def learner(made: Material) -> tuple[Stepper, Batch]:
    """All that a step needs, and one batch."""
    model = build(made.config.model, seed=0)
    stepper = Stepper(
        model=model,
        task=made.task,
        optimizer=make_optimizer(model, made.config.train),
        loss_scale=LossScale("float32", CPU),
        meter=Meter(CPU),
        device=CPU,
    )
    return stepper, made.task.collate([made.training[i] for i in range(8)])


def test_every_task_is_tried_here() -> None:
    assert list(TINY) == list(TASKS)


@pytest.mark.parametrize("name", TASKS)
def test_only_the_loss_of_a_recordable_task_reads_nothing_back(name: str) -> None:
    """On `meta` there is nothing to read; on an accelerator, reading would end a recording."""
    made, nowhere = material(name), torch.device("meta")
    model: Any = build(made.config.model, seed=0).to(nowhere)
    batch: Any = made.task.collate([made.training[i] for i in range(8)]).to(nowhere)
    if made.task.recordable:
        made.task.loss(model, batch).total.backward()
        assert all(p.grad is not None for p in model.parameters())
    else:
        with pytest.raises((NotImplementedError, RuntimeError), match="meta"):
            made.task.loss(model, batch)


@pytest.mark.parametrize("name", first_is_fast(TASKS))
def test_a_task_learns_one_batch_by_heart(name: str) -> None:
    stepper, batch = learner(material(name))
    for _ in range(300):
        stepper.take_step([batch], 3e-3)
    loss = stepper.task.loss(stepper.model, batch).mean.item()
    assert loss - least_loss(batch) < BY_HEART.get(name, 0.01)


def least_loss(batch: Any) -> float:
    """What nobody can know by heart: how texts go on that have begun alike. 0 where each input has one answer."""
    if not isinstance(batch, StreamBatch):
        return 0.0
    rows = torch.cat([batch.tokens, batch.targets[:, -1:]], 1).tolist()
    begun = Counter(tuple(row[:length]) for row in rows for length in range(1, len(row) + 1))
    nats = (log(begun[tuple(row[:end])] / begun[tuple(row[: end + 1])]) for row in rows for end in range(1, len(row)))
    return sum(nats) / batch.count


@pytest.mark.parametrize("name", TASKS)
def test_a_task_is_deterministic(name: str) -> None:
    readings = []
    for _ in range(2):
        stepper, batch = learner(material(name))
        for _ in range(5):
            stepper.take_step([batch], 3e-3)
        readings.append(stepper.meter.read())
    assert readings[0] == readings[1]


@pytest.mark.parametrize("name", TASKS)
def test_a_batch_knows_how_many_targets_count(name: str) -> None:
    stepper, batch = learner(material(name))
    assert int(stepper.task.loss(stepper.model, batch).count) == batch.count
    assert stepper.task.name == name and stepper.task.extra_tokens >= 0


@pytest.mark.parametrize("name", TASKS)
def test_a_sketch_is_a_model_and_does_not_depend_on_the_data(name: str) -> None:
    recipe = tiny(name)
    check(TASKS[name].task.sketch(recipe).model)
    assert TASKS[name].task.sketch(recipe) == TASKS[name].task.sketch(material(name).config)


@pytest.mark.many
@pytest.mark.parametrize("name", TASKS)
def test_a_task_goes_on_bit_for_bit(name: str, tmp_path: Path) -> None:
    """What is left to chance in a batch depends on its place alone: a restored run draws the same."""
    made = material(name, dropout=0.1)
    config, run = made.config, Run.create(tmp_path / "run", made.config)

    def fresh() -> TrainingState:
        return TrainingState.begin(config, build(config.model, seed=0), made.task, made.training, CPU)

    one, other = fresh(), fresh()
    for _ in range(3):
        one.advance()
    one.checkpoint().save(run.checkpoint(3))
    for _ in range(4):
        one.advance()
    assert list(other.restore(run)) == []
    for _ in range(4):
        other.advance()
    ours, theirs = one.checkpoint(), other.checkpoint()
    assert ours.state == theirs.state
    for part in ("model", "optimizer", "random"):
        assert all(torch.equal(value, getattr(theirs, part)[key]) for key, value in getattr(ours, part).items()), part


@pytest.mark.parametrize("name", first_is_fast(TASKS))
def test_a_run_is_begun_found_again_and_loaded(name: str, tmp_path: Path) -> None:
    job = begin(tiny(name, train={"steps": 2, "evaluate_every": 2}), tmp_path / "run")  # its pictures take long
    happened = list(train_watched(job))
    assert happened[-1] == events.Stopped(job.recipe.train.steps, "finished")
    assert not [event for event in happened if isinstance(event, NotShown)]  # status, pictures, TensorBoard
    assert job.validation is not None and len(list(job.run.pictures.iterdir())) == 3
    resumed = again(tmp_path / "run")
    assert (resumed.recipe, resumed.training.fingerprint) == (job.recipe, job.training.fingerprint)
    assert job.recipe.train.steps == Run.open(tmp_path / "run").status["step"]
    loaded = load(tmp_path / "run", checkpoint="last")
    ours, theirs = job.model.state_dict(), loaded.model.state_dict()
    assert loaded.task == name and all(torch.equal(value, theirs[key]) for key, value in ours.items())


@pytest.mark.many
@pytest.mark.parametrize("name", TASKS)
def test_a_task_lists_what_its_evaluation_reports(name: str, tmp_path: Path) -> None:
    """`train.best` is refused against this list before any data is read, and judged by it: less or more."""
    happened = list(train(begin(tiny(name), tmp_path / "run")))
    reported = next(event for event in happened if isinstance(event, events.Evaluated)).metrics
    assert list(reported) == list(TASKS[name].task.judged)
    task = TASKS[name].task
    assert {*task.judged.values()} <= {"less", "more"} and {*task.shown} <= {*task.judged}
    with pytest.raises(ConfigError, match=r"best='blue' is not among the metrics.*use one of: loss"):
        begin(tiny(name, train={"best": "blue"}), tmp_path / "other")


@pytest.mark.many
@pytest.mark.parametrize("name", TASKS)
def test_other_data_is_noticed(name: str, tmp_path: Path) -> None:
    made = material(name)
    run = Run.create(tmp_path / "run", made.config)
    one = TrainingState.begin(made.config, build(made.config.model, seed=0), made.task, made.training, CPU)
    one.checkpoint().save(run.checkpoint(1))
    fewer = made.training.select(range(len(made.training) - 1))
    other = TrainingState.begin(made.config, build(made.config.model, seed=0), made.task, fewer, CPU)
    with pytest.raises(
        FileError, match=r"holds checkpoints, 1 of them, and none can be used; .* was made with another data"
    ):
        list(other.restore(run))


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_task_has_its_words(name: str, lang: str) -> None:
    kind, known = TASKS[name].task, sentences(lang)
    wanted = [f"units.many.{kind.unit}", f"units.loss.{kind.unit}", *(f"metrics.{metric}" for metric in kind.shown)]
    assert [key for key in wanted if key not in known] == []
    assert set(kind.shown.values()) <= {"share", "percent", "free"} and len(kind.shown) <= 4
