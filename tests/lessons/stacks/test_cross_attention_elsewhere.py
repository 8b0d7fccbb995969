from __future__ import annotations

import pytest
import torch

from glassformer.lessons.catalogue import lesson
from glassformer.lessons.lesson import drawn
from glassformer.lessons.stacks.cross_attention_elsewhere import _inside
from glassformer.lessons.texts import PictureWords
from glassformer.tasks.object_queries.task import QueryAnswers
from lesson_models import tiny_result

NAME = "cross_attention_elsewhere"


def test_a_look_without_aim_falls_into_a_box_as_often_as_the_box_is_large() -> None:
    said = QueryAnswers(torch.ones(1, 1), torch.zeros(1, 1, dtype=torch.long), torch.tensor([[[0.5, 0.25, 0.5, 0.5]]]))
    inside, area = _inside(torch.full((1, 1, 64), 1 / 64), said)
    assert inside == pytest.approx(0.25) and area == pytest.approx(0.25)
    aimed = torch.zeros(1, 1, 8, 8)
    aimed[..., 1, 3] = 1.0
    assert _inside(aimed.flatten(2), said)[0] == pytest.approx(1.0)


@pytest.mark.slow
def test_another_model_sees_something_else() -> None:
    one, other = (tiny_result(NAME, seed) for seed in (0, 1))
    assert (one["inside"], one["area"]) != (other["inside"], other["area"])


@pytest.mark.slow
def test_prompts_stand_beside_chance_and_their_example_fits_its_picture() -> None:
    data = tiny_result(NAME)
    assert list(data["prompts"]) == ["point", "word"]
    for kind, found in data["prompts"].items():
        assert 0 <= found["right"] <= 1 and 1 / 3 <= found["chance"] <= 0.5 and found["asked"] > 0
        example = found["example"]
        assert len(example["image"]) == 24 and len(example["answers"][0]["map"]) == 6
        assert sum(map(sum, example["answers"][0]["map"])) == pytest.approx(1.0, abs=1e-3)
        assert (kind == "point") == (example["point"] is not None)
        assert example["prompt"].isascii()
    panels = drawn(lesson(NAME), data, PictureWords(NAME, "ko")).axes
    titles = " ".join(axes.get_title(loc="left") for axes in panels)
    assert data["prompts"]["word"]["example"]["prompt"] in titles
