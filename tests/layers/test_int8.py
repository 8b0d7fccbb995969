from __future__ import annotations

from copy import deepcopy

import pytest
import torch
from torch import Tensor, nn

from glassformer.errors import InputError
from glassformer.kernels.int8_linear import to_int8
from glassformer.kernels.joint_linear import joint_linear
from glassformer.layers import int8
from glassformer.layers.embedding import TokenEmbedding
from glassformer.layers.head import LanguageModelHead
from glassformer.layers.int8 import Int8LanguageModelHead, Int8Linear, Int8TokenEmbedding


@pytest.fixture(autouse=True, params=["fast", "plain"])
def _both_forms(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """What a CPU with 8-bit instructions does, and what every other machine does."""
    torch.manual_seed(0)
    if request.param == "plain":
        monkeypatch.setattr(int8, "pack_int8", lambda q: None)
    return str(request.param)


def close(found: Tensor, expected: Tensor) -> None:
    """A number is off by at most 1/254 of the largest of its row; in a sum over k of them the errors average out.

    Two roundings, each with a standard deviation of 1/√12 of a step of 1/127 of the largest (about 3 deviations of the
    numbers themselves): about 1 % of the norm of the result.
    """
    assert float((found - expected).detach().norm() / expected.detach().norm()) < 0.02


@pytest.mark.parametrize("bias", [False, True])
def test_a_linear_layer(bias: bool) -> None:
    layer, x = nn.Linear(64, 96, bias=bias), torch.randn(2, 5, 64)
    small = Int8Linear(layer.weight, layer.bias)
    close(small(x), layer(x))
    assert (small.in_features, small.out_features) == (64, 96)
    assert not any(p.requires_grad for p in small.parameters())


def test_a_matrix_that_is_turned_by_its_strides() -> None:
    stored, x = torch.randn(64, 96), torch.randn(3, 64)
    close(Int8Linear(stored.t())(x), x @ stored)


def test_several_layers_as_one_product(monkeypatch: pytest.MonkeyPatch) -> None:
    """As an accelerator does it, which has no packed form."""
    monkeypatch.setattr(int8, "pack_int8", lambda q: None)
    layers, x = [nn.Linear(64, n) for n in (32, 16)], torch.randn(3, 64)
    small = [Int8Linear(layer.weight, layer.bias) for layer in layers]
    for found, one in zip(joint_linear(x, *small), small, strict=True):  # type: ignore[arg-type]
        torch.testing.assert_close(found, one(x))


def test_for_use_only() -> None:
    layer = Int8Linear(torch.randn(4, 4))
    assert layer.eval() is layer
    with pytest.raises(
        InputError, match="a model in int8 is for use only and cannot be trained; load it without dtype"
    ):
        layer.train()
    with pytest.raises(InputError, match="for use only and cannot be saved or exported; load it without dtype"):
        layer.state_dict()
    x = torch.randn(2, 4)
    assert torch.equal(deepcopy(layer)(x), layer(x))


def test_a_token_embedding() -> None:
    box = TokenEmbedding(vocab_size=50, d_model=32, segments=2)
    small = Int8TokenEmbedding(box)
    tokens, segments = torch.tensor([[3, 49, 0]]), torch.tensor([[0, 1, 1]])
    q, s = to_int8(box.weight)
    rows = (q * s[:, None])[tokens] * 32**0.5 + box.segments[segments]  # type: ignore[index]
    torch.testing.assert_close(small(tokens, segments), rows)
    close(small(tokens), box(tokens))
    assert small.weight.dtype == torch.int8
    with pytest.raises(InputError, match="token 50 is not in the vocabulary, whose ids are 0 to 49"):
        small(torch.tensor([[50]]))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"tied": True, "scale": True},
        {"bias": True, "transform": True},
        {"tied": True, "bias": True, "offset": True},
    ],
)
def test_the_head_of_a_language_model(options: dict[str, bool]) -> None:
    head, matrix = LanguageModelHead(d_model=64, vocab_size=100, **options), torch.randn(100, 64)
    if head.offset is not None:
        head.offset.copy_(torch.randn(100))
    weight = matrix if head.weight is None else head.weight
    small, x = Int8LanguageModelHead(head, weight), torch.randn(2, 3, 64)
    close(small(x), head(x, None, matrix))
    assert small.weight is None and isinstance(small, LanguageModelHead)
