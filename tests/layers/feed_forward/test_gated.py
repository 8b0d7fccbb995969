from __future__ import annotations

import pytest
import torch

from glassformer.layers.feed_forward import ACTIVATIONS, FEED_FORWARDS, GatedFeedForward
from glassformer.trace.record import record


def test_the_gate_by_hand() -> None:
    # x = (2, -1): gate = max(0, (2 + 1, -1 - 1)) = (3, 0); x W_1 + b_1 = (2·2, -1 + 5) = (4, 4); gated (12, 0);
    # times W_2 + b_2 = (12 + 1, 24 + 2).
    network = GatedFeedForward(d_model=2, d_ff=2)
    with torch.no_grad():
        network.w_gate.weight.copy_(torch.eye(2))
        network.w_gate.bias.copy_(torch.tensor([1.0, -1.0]))
        network.w_1.weight.copy_(torch.tensor([[2.0, 0.0], [0.0, 1.0]]))
        network.w_1.bias.copy_(torch.tensor([0.0, 5.0]))
        network.w_2.weight.copy_(torch.tensor([[1.0, 1.0], [2.0, 0.0]]))
        network.w_2.bias.copy_(torch.tensor([1.0, 2.0]))
    assert network(torch.tensor([[[2.0, -1.0]]])).tolist() == [[[13.0, 26.0]]]


@pytest.mark.parametrize("activation", sorted(ACTIVATIONS))
def test_equals_its_formula(activation: str) -> None:
    network = GatedFeedForward(d_model=4, d_ff=6, activation=activation, bias=False).double()
    x = torch.randn(2, 3, 4).double()
    gate = ACTIVATIONS[activation](x @ network.w_gate.weight.T)
    expected = (gate * (x @ network.w_1.weight.T)) @ network.w_2.weight.T
    torch.testing.assert_close(network(x), expected, atol=1e-12, rtol=0)


def test_three_matrices_of_two_thirds_cost_what_two_cost() -> None:
    gated = GatedFeedForward(d_model=12, d_ff=32, bias=False)
    assert sum(parameter.numel() for parameter in gated.parameters()) == 2 * 12 * 48


def test_biases_can_be_left_out() -> None:
    with_bias = dict(GatedFeedForward(d_model=4, d_ff=6).named_parameters())
    without = dict(GatedFeedForward(d_model=4, d_ff=6, bias=False).named_parameters())
    assert set(with_bias) - set(without) == {"w_gate.bias", "w_1.bias", "w_2.bias"}
    assert set(without) == {"w_gate.weight", "w_1.weight", "w_2.weight"}


def test_gate_and_hidden_can_be_seen() -> None:
    network, x = GatedFeedForward(d_model=4, d_ff=6, activation="silu"), torch.randn(2, 3, 4)
    with record(network) as trace:
        network(x)
    assert trace.names() == ["gate", "hidden", "output"]
    assert torch.equal(trace["hidden"], trace["gate"] * network.w_1(x))


def test_dropout_acts_in_training_only() -> None:
    network, x = GatedFeedForward(d_model=4, d_ff=60, activation="gelu", dropout=0.5), torch.randn(2, 3, 4)
    assert not torch.equal(network(x), network(x))
    network.eval()
    assert torch.equal(network(x), network(x))


def test_it_is_found_by_name() -> None:
    assert FEED_FORWARDS["gated"] is GatedFeedForward
