from __future__ import annotations

import pytest
import torch

from glassformer.bench.questions import HIGHEST, LOWEST, answered, at_real, batch, questions, without_classes
from glassformer.config.model import ModelConfig
from glassformer.config.values import Choice

SIZES = {"vocab_size": 60, "d_model": 8, "n_heads": 2, "d_ff": 8}


def test_a_batch_is_padded_behind_or_in_front() -> None:
    behind, front = batch((3, 1), pad=59), batch((3, 1), pad=59, left=True)
    assert behind.real.tolist() == [[True, True, True], [True, False, False]]
    assert front.real.tolist() == [[True, True, True], [False, False, True]]
    assert behind.ids[1, 1:].tolist() == front.ids[1, :2].tolist() == [59, 59]
    assert int(behind.ids[behind.real].min()) >= LOWEST
    assert int(behind.ids[behind.real].max()) < HIGHEST


def test_places_count_real_tokens() -> None:
    assert batch((3, 2), left=True).places.tolist() == [[0, 1, 2], [0, 0, 1]]


def test_a_row_has_no_padding() -> None:
    front = batch((3, 2), left=True)
    alone = front.row(1)
    assert alone.ids.tolist() == [front.ids[1, 1:].tolist()]
    assert alone.real.all()


def test_answers_are_taken_at_real_tokens() -> None:
    real = torch.tensor([[True, False], [True, True]])
    each, whole = torch.arange(8.0).view(2, 2, 2), torch.ones(2, 5)
    assert at_real(each, real).tolist() == [[0, 1], [4, 5], [6, 7]]
    assert at_real(whole, real) is whole


def test_logits_come_before_vectors() -> None:
    assert answered({"logits": 1, "last_hidden_state": 2}) == 1
    assert answered({"last_hidden_state": 2}) == 2


@pytest.mark.parametrize(
    ("family", "cases"),
    [
        ("encoder", ["whole", "right", "left"]),
        ("decoder", ["whole", "right", "left", "steps"]),
        ("encoder-decoder", ["whole", "right", "left", "steps"]),
    ],
)
def test_every_model_is_asked_all_that_fits_it(family: str, cases: list[str]) -> None:
    assert list(questions(ModelConfig(family=family, **SIZES), pad=0, by_length=False)) == cases


def test_pictures_have_no_padding() -> None:
    shape = Choice("image", {"size": 8, "patch": 4, "channels": 1})
    config = ModelConfig(family="encoder", input=shape, d_model=8, n_heads=2, d_ff=8)
    assert list(questions(config, pad=0, by_length=False)) == ["whole"]


def test_a_pooler_alone_is_asked_for_both() -> None:
    pooler = ModelConfig(family="encoder", head=Choice("classifier", {"classes": 0, "pooler": True}), **SIZES)
    classes = ModelConfig(family="encoder", head=Choice("classifier", {"classes": 3}), **SIZES)
    assert without_classes(pooler) and not without_classes(classes)
    more, fewer = (questions(config, pad=0, by_length=False)["right"] for config in (pooler, classes))
    assert len(more) == len(fewer) + 1
