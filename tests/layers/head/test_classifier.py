from __future__ import annotations

import pytest
import torch

from glassformer.layers.head import ClassifierHead, pool
from glassformer.trace.record import record

X = torch.tensor([[[1.0, -1.0], [2.0, -5.0], [6.0, -3.0]], [[4.0, 0.0], [8.0, 2.0], [0.0, 1.0]]])  # b=2 t=3 d=2
RIGHT = torch.tensor([[True, True, False], [True, True, True]])


@pytest.mark.parametrize("how", ["cls", "sep", "mean", "max"])
def test_a_row_of_padding_alone_gives_finite_logits(how: str) -> None:
    torch.manual_seed(0)
    head = ClassifierHead(d_model=2, classes=50, pool=how)
    with torch.no_grad():
        assert head.output is not None
        head.output.weight.normal_(std=10.0)
    logits = head(X, torch.tensor([[False, False, False], [True, True, True]]))
    assert torch.isfinite(logits).all()


@pytest.mark.parametrize("how", ["cls", "sep", "mean", "max"])
def test_a_classifier_is_a_pool_and_one_linear_layer(how: str) -> None:
    head = ClassifierHead(d_model=2, classes=5, pool=how)
    assert head.output is not None
    with record(head) as trace:
        logits = head(X, RIGHT)
    torch.testing.assert_close(logits, pool(X, how, RIGHT) @ head.output.weight.T + head.output.bias)
    assert torch.equal(trace["pooled"], pool(X, how, RIGHT))
    assert torch.equal(trace["logits"], logits)


def test_a_pooler_is_a_dense_layer_with_tanh() -> None:
    head = ClassifierHead(d_model=2, classes=5, pooler=True)
    assert head.pooler is not None and head.output is not None
    pooled = torch.tanh(X[:, 0] @ head.pooler.weight.T + head.pooler.bias)
    torch.testing.assert_close(head(X), pooled @ head.output.weight.T + head.output.bias)


def test_no_classes_stop_after_the_pooler() -> None:
    head = ClassifierHead(d_model=2, classes=0, pooler=True)
    assert [name for name, _ in head.named_parameters()] == ["pooler.weight", "pooler.bias"]
    assert head.pooler is not None
    assert torch.equal(head(X), torch.tanh(head.pooler(X[:, 0])))


def test_the_bias_can_be_left_out() -> None:
    head = ClassifierHead(d_model=2, classes=5, bias=False)
    assert [name for name, _ in head.named_parameters()] == ["output.weight"]


@pytest.mark.parametrize("pooler", [False, True])
def test_each_position_gets_a_class_of_its_own(pooler: bool) -> None:
    head = ClassifierHead(d_model=2, classes=5, pool="each", pooler=pooler)
    one = ClassifierHead(d_model=2, classes=5, pooler=pooler)
    one.load_state_dict(head.state_dict())
    logits = head(X, RIGHT)
    assert logits.shape == (2, 3, 5)
    for t in range(3):
        torch.testing.assert_close(logits[:, t], one(X[:, t : t + 1]))
