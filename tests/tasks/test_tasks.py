from __future__ import annotations

import pytest
import torch

from glassformer.data.batch import Batch
from glassformer.losses import cross_entropy
from glassformer.tasks import TASKS, Task
from glassformer.train.meter import Meter
from glassformer.train.optimizer import make_optimizer
from glassformer.train.precision import LossScale
from glassformer.train.step import Stepper
from small_run import examples, run_config, small_model, translation

CPU = torch.device("cpu")
CONFIGS = {"translation": run_config({"dropout": 0.0, "d_model": 32}, optimizer="adam")}


def case(name: str) -> tuple[Stepper, Task, Batch]:
    config = CONFIGS[name]
    task = translation(config, criterion=cross_entropy)
    store = examples(16)
    batch = task.collate([store[i] for i in range(16)])
    torch.manual_seed(0)
    model = small_model(config)
    optimizer = make_optimizer(model, config.train)
    stepper = Stepper(
        model=model, task=task, optimizer=optimizer, scale=LossScale("float32", CPU), meter=Meter(CPU), device=CPU
    )
    return stepper, task, batch


def test_every_task_is_tried_here() -> None:
    assert list(CONFIGS) == list(TASKS)


@pytest.mark.parametrize("name", TASKS)
def test_a_task_learns_one_batch_by_heart(name: str) -> None:
    stepper, task, batch = case(name)
    for _ in range(300):
        stepper([batch], 3e-3)
    assert task.loss(stepper.model, batch).mean.item() < 0.01


@pytest.mark.parametrize("name", TASKS)
def test_a_task_is_deterministic(name: str) -> None:
    losses = []
    for _ in range(2):
        stepper, _, batch = case(name)
        for _ in range(5):
            stepper([batch], 3e-3)
        losses.append(stepper.meter.read())
    assert losses[0] == losses[1]


@pytest.mark.parametrize("name", TASKS)
def test_a_batch_knows_how_many_targets_count(name: str) -> None:
    stepper, task, batch = case(name)
    assert int(task.loss(stepper.model, batch).count) == batch.count
    assert task.name == name and task.extra_tokens >= 0
