from __future__ import annotations

import pytest
import torch

from glassformer.lessons.stacks.cross_attention_elsewhere import _inside
from glassformer.tasks.object_queries.task import QueryAnswers
from lesson_models import tiny_result


def test_a_look_without_aim_falls_into_a_box_as_often_as_the_box_is_large() -> None:
    said = QueryAnswers(torch.ones(1, 1), torch.zeros(1, 1, dtype=torch.long), torch.tensor([[[0.5, 0.25, 0.5, 0.5]]]))
    inside, area = _inside(torch.full((1, 1, 64), 1 / 64), said)
    assert inside == pytest.approx(0.25) and area == pytest.approx(0.25)
    aimed = torch.zeros(1, 1, 8, 8)
    aimed[..., 1, 3] = 1.0
    assert _inside(aimed.flatten(2), said)[0] == pytest.approx(1.0)


@pytest.mark.slow
def test_another_model_sees_something_else() -> None:
    one, other = (tiny_result("cross_attention_elsewhere", seed) for seed in (0, 1))
    assert (one["inside"], one["area"]) != (other["inside"], other["area"])
