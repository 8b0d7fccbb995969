from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from glassformer.errors import ConfigError
from glassformer.models.build import build
from glassformer.tasks.canvases import Canvases, LossWeights
from glassformer.tasks.object_queries.task import ObjectQueries, likeliest_objects
from glassformer.training.optimizer import make_optimizer
from tiny_tasks import tiny

pytest.importorskip("sklearn")


def material(**changes: dict[str, Any]) -> Canvases:
    return ObjectQueries.begin(tiny("object_queries", **changes))


def test_a_batch_holds_images_from_0_to_1_and_counts_objects() -> None:
    made = material(data={"source": {"kind": "canvases", "size": 16, "most": 2, "count": 20}})
    batch = made.task.collate([made.training[i] for i in range(20)])
    assert batch.images.shape == (20, 1, 16, 16) and batch.images.max() == 1.0
    assert batch.boxes.shape == (20, 2, 4) and batch.count == int((batch.labels >= 0).sum()) > 20
    assert made.training.lengths[0].tolist() == [16 + 2]  # patches and queries


def test_an_answer_is_the_likeliest_class_or_nothing() -> None:
    y = torch.tensor([[[0.0, 5.0, 0.0, 0.1, 0.2, 0.3, 0.4], [0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 0.0]]])
    found = likeliest_objects(y)
    assert found.said.tolist() == [[1, -1]] and found.boxes[0, 0].tolist() == pytest.approx([0.1, 0.2, 0.3, 0.4])
    assert float(found.sureness[0, 0]) == pytest.approx(0.9867, abs=1e-3)


def test_weights_are_those_of_the_recipe() -> None:
    config = tiny("object_queries", run={"task": {"kind": "object_queries", "nothing": 0.5, "giou": 1}})
    assert LossWeights.from_choice("task", config.task) == LossWeights(nothing=0.5, l1=5.0, giou=1.0)
    task = ObjectQueries.make(config)
    assert (task.l1, task.giou) == (5.0, 1.0)
    nothing = torch.full((1, 1), 10)
    assert float(task.criterion(torch.zeros(1, 1, 11), nothing).total) == pytest.approx(0.5 * 2.3979, rel=1e-3)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"run": {"task": {"kind": "object_queries", "l2": 1}}}, r"task.l2: 'object_queries' has no such option"),
        ({"run": {"task": {"kind": "object_queries", "l1": 0}}}, "task.l1=0 is not positive and finite"),
        ({"train": {"loss": "mse"}}, "'object_queries' cannot be learned with the loss 'mse'; use one of: cross_en"),
        ({"data": {"source": "grammar"}}, "data.source='grammar' is unknown; use one of: canvases"),
        (
            {"model": {"input": {"kind": "image", "size": 32, "patch": 4, "channels": 1}}},
            "canvases are images of size=16 and channels=1, here model.input=image with .*32.*; set input.size=16",
        ),
        ({"model": {"input": "vectors"}}, "canvases are images of size=16 and channels=1, here model.input=vectors"),
        (
            {"model": {"head": {"kind": "objects", "classes": 9}}},
            "task=object_queries needs a head of objects with classes=10, here objects; write head = ",
        ),
        ({"model": {"queries": 0}}, "queries=0, and a canvas holds up to most=1 digits; set model.queries=1 or more"),
    ],
)
def test_what_does_not_fit_together_is_refused(changes: dict[str, dict[str, Any]], line: str) -> None:
    with pytest.raises(ConfigError, match=line):
        ObjectQueries.sketch(tiny("object_queries", **changes))


@pytest.mark.slow
def test_a_batch_that_is_known_by_heart_is_found_as_a_whole() -> None:
    made = material()
    model = build(made.config.model, seed=0)
    optimizer = make_optimizer(model, made.config.train)
    batch = made.task.collate([made.training[i] for i in range(8)])
    for group in optimizer.param_groups:
        group["lr"] = 3e-3
    for _ in range(150):
        optimizer.zero_grad()
        made.task.loss(model, batch).mean.backward()
        optimizer.step()
    with torch.no_grad():
        found = made.task.metrics(made.task.scores(model, batch))
    assert found["found"] == 1.0 and found["box_overlap"] > 0.7 and found["false_alarms"] < 0.5
    assert set(found) == {"loss", "found", "box_overlap", "false_alarms"}


def test_with_another_loss_all_else_stays() -> None:
    task = material().task
    assert task.with_loss(task.criterion) == task


def test_accumulation_is_one_big_batch() -> None:
    """First F7 for the loss of sets: canvases with different numbers of digits, gradients ≤ 1e-12 in float64."""
    made = material(data={"source": {"kind": "canvases", "size": 16, "most": 2, "count": 20}})
    model = build(made.config.model, seed=0, dtype=torch.float64)

    def gradients(*parts: range) -> list[torch.Tensor]:
        batches = [made.task.collate([made.training[i] for i in part]) for part in parts]
        batches = [replace(batch, images=batch.images.double(), boxes=batch.boxes.double()) for batch in batches]
        sums = [made.task.loss(model, batch) for batch in batches]
        total = torch.stack([one.total for one in sums]).sum() / sum(batch.count for batch in batches)
        return list(torch.autograd.grad(total, list(model.parameters())))

    for ours, theirs in zip(gradients(range(3), range(3, 10), range(10, 20)), gradients(range(20)), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)
