from __future__ import annotations

import pytest
import torch

from glassformer.layers.feed_forward import ACTIVATIONS, FEED_FORWARDS, FeedForward
from glassformer.trace.record import record


def by_hand(**options: bool | float) -> FeedForward:
    network = FeedForward(d_model=2, d_ff=3, **options)
    with torch.no_grad():
        network.w_1.weight.copy_(torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))
        network.w_2.weight.copy_(torch.tensor([[1.0, 0.0, 1.0], [0.0, 2.0, 0.0]]))
        if network.w_1.bias is not None:
            network.w_1.bias.copy_(torch.tensor([0.0, 1.0, -4.0]))
            network.w_2.bias.copy_(torch.tensor([10.0, 20.0]))
    return network


def test_equation_two_by_hand() -> None:
    # x = (3, -2): x W_1 + b_1 = (3, -1, -3), max(0, ·) = (3, 0, 0), times W_2 + b_2 = (3 + 10, 0 + 20).
    # x = (3, 2): x W_1 + b_1 = (3, 3, 1), times W_2 + b_2 = (3 + 1 + 10, 6 + 20).
    x = torch.tensor([[[3.0, -2.0], [3.0, 2.0]]])
    assert by_hand()(x).tolist() == [[[13.0, 20.0], [14.0, 26.0]]]


def test_without_bias_by_hand() -> None:
    # x = (3, -2): x W_1 = (3, -2, 1), max(0, ·) = (3, 0, 1), times W_2 = (4, 0).
    network = by_hand(bias=False)
    assert [name for name, _ in network.named_parameters()] == ["w_1.weight", "w_2.weight"]
    assert network(torch.tensor([[[3.0, -2.0]]])).tolist() == [[[4.0, 0.0]]]


@pytest.mark.parametrize("activation", sorted(ACTIVATIONS))
def test_the_activation_stands_between_the_products(activation: str) -> None:
    network, x = FeedForward(d_model=4, d_ff=8, activation=activation), torch.randn(2, 3, 4)
    with record(network) as trace:
        result = network(x)
    assert torch.equal(trace["hidden"], ACTIVATIONS[activation](network.w_1(x)))
    assert torch.equal(result, network.w_2(trace["hidden"]))
    assert torch.equal(trace["output"], result)


def test_tokens_do_not_meet() -> None:
    network = FeedForward(d_model=4, d_ff=8, activation="gelu").double()
    x = torch.randn(1, 3, 4).double()
    jacobian = torch.autograd.functional.jacobian(network, x)[0, :, :, 0]  # t d t d
    for t in range(3):
        for s in range(3):
            assert (jacobian[t, :, s].abs().max().item() > 0) is (t == s)


def test_dropout_between_the_products_acts_in_training_only() -> None:
    network = FeedForward(d_model=64, d_ff=64, dropout=0.5)
    with torch.no_grad():
        network.w_1.weight.zero_()
        network.w_1.bias.fill_(1.0)
        network.w_2.weight.copy_(torch.eye(64))
        network.w_2.bias.zero_()
    torch.manual_seed(0)
    in_training = network(torch.zeros(2, 8, 64))
    assert set(in_training.unique().tolist()) == {0.0, 2.0}
    assert in_training.mean().item() == pytest.approx(1.0, abs=0.1)
    network.eval()
    assert set(network(torch.zeros(2, 8, 64)).unique().tolist()) == {1.0}


def test_it_is_found_by_name() -> None:
    assert FEED_FORWARDS["mlp"] is FeedForward
