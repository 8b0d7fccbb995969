from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from glassformer.errors import ConfigError
from glassformer.layers.feed_forward import ACTIVATIONS
from glassformer.layers.head import LanguageModelHead
from glassformer.ledger.rows import rows_of_box
from glassformer.trace.record import record


def test_a_language_model_head_has_a_matrix_of_its_own() -> None:
    head, x = LanguageModelHead(d_model=4, vocab_size=7), torch.randn(2, 3, 4)
    assert {name: tuple(p.shape) for name, p in head.named_parameters()} == {"weight": (7, 4)}
    with record(head) as trace:
        logits = head(x)
    torch.testing.assert_close(logits, x @ head.weight.T)
    assert torch.equal(trace["logits"], logits)


def test_a_tied_head_uses_the_embedding() -> None:
    head = LanguageModelHead(d_model=4, vocab_size=7, tied=True, bias=True)
    assert [name for name, _ in head.named_parameters()] == ["bias"]
    with torch.no_grad():
        head.bias.copy_(torch.arange(7.0))
    x, embedding = torch.randn(2, 3, 4), torch.randn(7, 4)
    torch.testing.assert_close(head(x, embedding=embedding), x @ embedding.T + torch.arange(7.0))


def test_an_untied_head_ignores_the_embedding() -> None:
    head, x = LanguageModelHead(d_model=4, vocab_size=7), torch.randn(2, 3, 4)
    assert torch.equal(head(x, embedding=torch.randn(7, 4)), head(x))


def test_the_scale_divides_by_the_root_of_d_model() -> None:
    x, embedding = torch.randn(2, 3, 4), torch.randn(7, 4)
    plain = LanguageModelHead(d_model=4, vocab_size=7, tied=True)
    scaled = LanguageModelHead(d_model=4, vocab_size=7, tied=True, scale=True)
    torch.testing.assert_close(scaled(x, embedding=embedding), plain(x, embedding=embedding) / 2)


def test_the_transform_is_dense_gelu_norm() -> None:
    head, x = LanguageModelHead(d_model=4, vocab_size=7, transform=True, eps=1e-12), torch.randn(2, 3, 4)
    assert head.transform is not None and head.weight is not None
    dense = F.gelu(x @ head.transform.weight.T + head.transform.bias)
    expected = F.layer_norm(dense, (4,), eps=1e-12) @ head.weight.T
    torch.testing.assert_close(head(x), expected)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_the_transform_has_the_activation_of_its_model(activation: str) -> None:
    head, x = LanguageModelHead(d_model=4, vocab_size=7, transform=True, activation=activation), torch.randn(2, 3, 4)
    assert head.transform is not None and head.weight is not None
    dense = ACTIVATIONS[activation](x @ head.transform.weight.T + head.transform.bias)
    torch.testing.assert_close(head(x), F.layer_norm(dense, (4,), eps=1e-5) @ head.weight.T)


def test_an_unknown_activation_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^head\.activation='x' is unknown; use one of: relu, gelu"):
        LanguageModelHead(d_model=4, vocab_size=7, activation="x")


def test_an_offset_is_added_stored_and_not_trained() -> None:
    head, x = LanguageModelHead(d_model=4, vocab_size=7, offset=True), torch.randn(2, 3, 4)
    assert head.weight is not None and head.offset is not None
    assert torch.equal(head(x), x @ head.weight.T)  # zeros at first
    head.offset.copy_(torch.arange(7.0))
    torch.testing.assert_close(head(x), x @ head.weight.T + torch.arange(7.0))
    assert [name for name, _ in head.named_parameters()] == ["weight"]
    assert list(head.state_dict()) == ["weight", "offset"]
    rows = rows_of_box(LanguageModelHead, {"d_model": 4, "vocab_size": 7, "offset": True})
    assert [(row.name, row.parameters, row.buffers) for row in rows] == [("", 28, 0), ("offset", 0, 7)]


def test_without_an_offset_the_stored_keys_are_those_of_always() -> None:
    head = LanguageModelHead(d_model=4, vocab_size=7, transform=True, bias=True)
    assert set(head.state_dict()) == {
        "transform.weight", "transform.bias", "norm.weight", "norm.bias", "weight", "bias"
    }  # fmt: skip
