from __future__ import annotations

import pytest
import torch
from torch import Tensor
from transformers import MinPLogitsWarper, TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from glassformer.decoding.filters import heat, keep_min_p, keep_top_k, keep_top_p

EIGHT = torch.tensor([[0.5, 0.25, 0.125, 0.125]]).log()
NOBODY = torch.zeros(1, 1, dtype=torch.long)


def kept(logits: Tensor) -> list[int]:
    return [i for i, value in enumerate(logits[0].tolist()) if value > float("-inf")]


def random() -> Tensor:
    return 3 * torch.randn(50, 300, generator=torch.Generator().manual_seed(0))


def test_temperature_by_hand() -> None:
    # p ∝ exp(logit / ½) = p²: ¼, 1/16, 1/64, 1/64
    expected = torch.tensor([[16.0, 4.0, 1.0, 1.0]]) / 22
    torch.testing.assert_close(heat(EIGHT, 0.5).softmax(1), expected)
    assert torch.equal(heat(EIGHT, 1.0).argmax(1), EIGHT.argmax(1))


@pytest.mark.parametrize("temperature", [1e-3, 1e-30, 1e-300])
def test_towards_zero_only_the_most_probable_is_left_and_nothing_overflows(temperature: float) -> None:
    assert heat(EIGHT, temperature).softmax(1).tolist() == [[1.0, 0.0, 0.0, 0.0]]


def test_top_k_by_hand() -> None:
    assert kept(keep_top_k(EIGHT, 2)) == [0, 1]
    assert kept(keep_top_k(EIGHT, 3)) == [0, 1, 2, 3]  # two are equally probable
    assert kept(keep_top_k(EIGHT, 99)) == [0, 1, 2, 3]


def test_top_p_by_hand() -> None:
    assert kept(keep_top_p(EIGHT, 0.5)) == [0]
    assert kept(keep_top_p(EIGHT, 0.51)) == [0, 1]
    assert len(kept(keep_top_p(EIGHT, 0.8))) == 3  # one of two equally probable ones
    assert kept(keep_top_p(EIGHT, 1.0)) == [0, 1, 2, 3]
    assert kept(keep_top_p(EIGHT, 1e-9)) == [0]


def test_min_p_by_hand() -> None:
    assert kept(keep_min_p(EIGHT, 0.5)) == [0, 1]
    assert kept(keep_min_p(EIGHT, 0.51)) == [0]
    assert kept(keep_min_p(EIGHT, 0.0)) == [0, 1, 2, 3]


@pytest.mark.parametrize("p", [0.05, 0.5, 0.9, 0.99])
def test_each_filter_keeps_what_hugging_face_keeps(p: float) -> None:
    logits, k = random(), int(200 * p)
    assert torch.equal(keep_top_k(logits, k), TopKLogitsWarper(k)(NOBODY, logits))
    assert torch.equal(keep_top_p(logits, p), TopPLogitsWarper(p)(NOBODY, logits))
    assert torch.equal(keep_min_p(logits, p), MinPLogitsWarper(p)(NOBODY, logits))
    torch.testing.assert_close(heat(logits, p).softmax(1), TemperatureLogitsWarper(p)(NOBODY, logits).softmax(1))
