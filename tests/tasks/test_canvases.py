from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from glassformer.config.values import Choice
from glassformer.errors import ConfigError
from glassformer.models.build import build
from glassformer.tasks import TASKS
from glassformer.tasks.canvases import PatchLoss, answer_loss, planned_canvases, with_nothing
from glassformer.tasks.task import means
from tiny_tasks import tiny

BOX = torch.tensor([[0.25, 0.25, 0.5, 0.5]])


def test_the_loss_of_an_answer_by_hand() -> None:
    shifted = BOX + torch.tensor([0.125, 0.0, 0.0, 0.0])  # three quarters of 0.5 stay: IoU = GIoU = 0.375 / 0.625
    found = answer_loss(torch.tensor(3.0), shifted, BOX, l1=5.0, giou=2.0)
    assert float(found) == pytest.approx(3.0 + 5 * 0.125 + 2 * (1 - 0.375 / 0.625))
    assert float(answer_loss(torch.tensor(3.0), BOX, BOX, l1=5.0, giou=2.0)) == pytest.approx(3.0)


def of_patches(labels: torch.Tensor, boxes: torch.Tensor, sure: float) -> torch.Tensor:
    """Four patches in two rows, after a class token: each says one of eleven classes, the last "nothing", and a box."""
    logits = sure * torch.nn.functional.one_hot(labels, 11).float()
    said = torch.cat([logits, boxes], -1)[None]  # 1 4 15
    return torch.cat([torch.full((1, 1, 15), 0.3), said], 1)


LABELS = torch.tensor([[7, 2, -1]])  # one with its centre in the upper right patch, one in the lower left, and none
BOXES = torch.tensor([[[0.7, 0.2, 0.25, 0.25], [0.3, 0.6, 0.25, 0.5], [0.0, 0.0, 0.0, 0.0]]])
RIGHT = torch.tensor([10, 7, 2, 10])  # row by row


def patch_loss(weight: float = 1.0, nothing: float = 1.0) -> PatchLoss:
    criterion = with_nothing(Choice("cross_entropy"), nothing)
    return PatchLoss(weight=weight, criterion=criterion, l1=5.0, giou=2.0, class_tokens=1)


def test_each_patch_answers_for_the_object_whose_centre_lies_in_it() -> None:
    boxes = torch.full((4, 4), 0.5)
    boxes[1], boxes[2] = BOXES[0, 0], BOXES[0, 1]
    assert float(patch_loss()(of_patches(RIGHT, boxes, 50.0), LABELS, BOXES)) == pytest.approx(0.0, abs=1e-5)
    swapped = of_patches(RIGHT[[0, 2, 1, 3]], boxes, 50.0)
    assert float(patch_loss()(swapped, LABELS, BOXES)) == pytest.approx(100.0, rel=1e-5)


@pytest.mark.parametrize(("weight", "nothing"), [(1.0, 1.0), (0.5, 0.1)])
def test_the_loss_of_patches_by_hand(weight: float, nothing: float) -> None:
    boxes = torch.full((4, 4), 0.5)
    boxes[1], boxes[2] = BOXES[0, 0] + torch.tensor([0.0625, 0.0, 0.0, 0.0]), BOXES[0, 1]
    found = patch_loss(weight, nothing)(of_patches(RIGHT, boxes, 0.0), LABELS, BOXES)
    of_boxes = 5 * 0.0625 + 2 * (1 - 0.1875 / 0.3125)  # three quarters of 0.25 stay
    assert float(found) == pytest.approx(weight * (math.log(11) * (2 + 2 * nothing) + of_boxes), rel=1e-5)


def test_an_empty_place_on_a_canvas_gives_no_gradient() -> None:
    alone = LABELS.new_full((1, 3), -1)
    y = of_patches(RIGHT, torch.full((4, 4), 0.4), 0.0).requires_grad_()
    (gradient,) = torch.autograd.grad(patch_loss()(y, alone, BOXES), y)
    assert torch.equal(gradient[..., -4:], torch.zeros(1, 5, 4)) and bool(gradient[:, 1:, :11].abs().sum() > 0)
    assert torch.equal(gradient[:, 0], torch.zeros(1, 15))  # of the class token nothing is asked


@pytest.mark.parametrize("task", ["object_queries", "prompted_objects"])
def test_a_recipe_may_weigh_what_patches_say_and_the_answers_stay_the_same(task: str) -> None:
    config = tiny(task)
    options = {**config.task.options, "patches": 0.5}
    kind = TASKS[task].task
    with_patches = kind.begin(replace(config, task=Choice(task, options)))
    plain = kind.begin(config)
    model = build(config.model, seed=0)
    batch = plain.task.collate([plain.training[i] for i in range(8)])
    with torch.no_grad():
        both, alone = (each.task.loss(model, batch) for each in (with_patches, plain))
        scores, same = (means(each.task.scores(model, batch)) for each in (with_patches, plain))
    assert float(both.total) > float(alone.total) and int(both.count) == int(alone.count)
    assert scores == same and scores["loss"] == pytest.approx(float(alone.mean), rel=1e-5)


@pytest.mark.parametrize("task", ["object_queries", "prompted_objects"])
def test_the_weight_of_patches_is_not_negative(task: str) -> None:
    config = tiny(task, run={"task": {"kind": task, "patches": -1.0}})
    with pytest.raises(ConfigError, match=r"task.patches=-1.0"):
        TASKS[task].task.sketch(config)


@pytest.mark.parametrize("task", ["object_queries", "prompted_objects"])
def test_the_model_must_fit_the_canvases(task: str) -> None:
    assert planned_canvases(tiny(task)).size in (16, 24)
    with pytest.raises(ConfigError, match=r"canvases are images of size=\d+ and channels=1, here model.input=vectors"):
        planned_canvases(tiny(task, model={"input": "vectors"}))
    with pytest.raises(ConfigError, match=f"task={task} needs a head of objects with classes=10, here classifier"):
        planned_canvases(tiny(task, model={"head": {"kind": "classifier", "classes": 10}}))
