from __future__ import annotations

import pytest
import torch

from glassformer.errors import ConfigError
from glassformer.tasks.canvases import answer_loss, planned_canvases
from tiny_tasks import tiny

BOX = torch.tensor([[0.25, 0.25, 0.5, 0.5]])


def test_the_loss_of_an_answer_by_hand() -> None:
    shifted = BOX + torch.tensor([0.125, 0.0, 0.0, 0.0])  # three quarters of 0.5 stay: IoU = GIoU = 0.375 / 0.625
    found = answer_loss(torch.tensor(3.0), shifted, BOX, l1=5.0, giou=2.0)
    assert float(found) == pytest.approx(3.0 + 5 * 0.125 + 2 * (1 - 0.375 / 0.625))
    assert float(answer_loss(torch.tensor(3.0), BOX, BOX, l1=5.0, giou=2.0)) == pytest.approx(3.0)


@pytest.mark.parametrize("task", ["object_queries", "prompted_objects"])
def test_the_model_must_fit_the_canvases(task: str) -> None:
    assert planned_canvases(tiny(task)).size in (16, 24)
    with pytest.raises(ConfigError, match=r"canvases are images of size=\d+ and channels=1, here model.input=vectors"):
        planned_canvases(tiny(task, model={"input": "vectors"}))
    with pytest.raises(ConfigError, match=f"task={task} needs a head of objects with classes=10, here classifier"):
        planned_canvases(tiny(task, model={"head": {"kind": "classifier", "classes": 10}}))
