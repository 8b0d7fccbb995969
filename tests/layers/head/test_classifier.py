from __future__ import annotations

import pytest
import torch

from glassformer.config.model import ModelConfig
from glassformer.errors import ConfigError, InputError
from glassformer.layers.head import ClassifierHead, DistilledHead, pool
from glassformer.models.build import build
from glassformer.trace.catalogue import taps
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


def test_the_two_classifiers_are_averaged_by_hand() -> None:
    head = DistilledHead(d_model=2, classes=1)
    with torch.no_grad():
        head.output.weight.copy_(torch.tensor([[2.0, 1.0]]))
        head.output.bias.fill_(0.5)
        head.distillation.weight.copy_(torch.tensor([[1.0, 0.0]]))
        head.distillation.bias.fill_(-1.0)
    with record(head) as trace:
        assert head(X).tolist() == [[1.25], [7.75]]  # (1.5 + 1)/2 and (8.5 + 7)/2
    assert trace["labelled"].tolist() == [[1.5], [8.5]]
    assert trace["taught"].tolist() == [[1.0], [7.0]]
    assert trace.names() == taps(head) == ["labelled", "taught", "logits"]


def test_later_positions_are_not_read() -> None:
    head = DistilledHead(d_model=2, classes=4)
    assert torch.equal(head(X), head(X[:, :2]))


def test_biases_can_be_left_out() -> None:
    head = DistilledHead(d_model=2, classes=4, bias=False)
    assert list(head.state_dict()) == ["output.weight", "distillation.weight"]


def test_one_position_is_refused() -> None:
    with pytest.raises(InputError, match="a distilled head reads the first two positions and got 1; give it a"):
        DistilledHead(d_model=2, classes=4)(X[:, :1])


def test_no_classes_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"head\.classes=0 is out of range"):
        DistilledHead(d_model=2, classes=0)


def test_an_image_with_two_class_tokens_is_recognised() -> None:
    config = ModelConfig.from_dict(
        {
            "family": "encoder",
            "input": {"kind": "image", "size": 8, "patch": 4, "class_tokens": 2},
            "d_model": 16,
            "n_heads": 2,
            "d_ff": 8,
            "n_encoder_layers": 1,
            "position": "learned",
            "max_len": 6,
            "head": {"kind": "distilled", "classes": 5},
        }
    )
    assert build(config, seed=0)(torch.randn(3, 3, 8, 8)).shape == (3, 5)
