from __future__ import annotations

import pytest
import torch

from glassformer.errors import ConfigError, InputError
from glassformer.layers.head import RegressionHead
from glassformer.trace.record import record

X = torch.tensor([[[1.0, -1.0], [2.0, -5.0], [6.0, -3.0]], [[4.0, 0.0], [8.0, 2.0], [0.0, 1.0]]])  # b=2 t=3 d=2
RIGHT = torch.tensor([[True, True, False], [True, True, True]])


def test_regression_on_the_mean_by_hand() -> None:
    head = RegressionHead(d_model=2, outputs=1)
    with torch.no_grad():
        head.output.weight.copy_(torch.tensor([[2.0, 1.0]]))
        head.output.bias.fill_(0.5)
    assert head(X).tolist() == [[3.5], [9.5]]  # means (3, −3) and (4, 1)
    assert head(X, RIGHT)[0].tolist() == [0.5]  # mean (1.5, −3)


def test_regression_on_all_positions_by_hand() -> None:
    head = RegressionHead(d_model=2, outputs=1, pool="flatten", positions=3)
    assert head.output.weight.shape == (1, 6)
    with torch.no_grad():
        head.output.weight.copy_(torch.tensor([[1.0, 0.0, 10.0, 0.0, 100.0, 0.0]]))
        head.output.bias.zero_()
    with record(head) as trace:
        assert head(X).tolist() == [[621.0], [84.0]]
    assert trace.names() == ["pooled", "output"]


@pytest.mark.parametrize("length", [2, 4])
def test_another_number_of_positions_is_refused(length: int) -> None:
    head = RegressionHead(d_model=2, outputs=1, pool="flatten", positions=3)
    with pytest.raises(InputError, match=rf"^the head was built for 3 positions and got {length}; give an input"):
        head(torch.zeros(1, length, 2))


def test_dropout_before_regression_acts_in_training_only() -> None:
    head = RegressionHead(d_model=50, outputs=3, dropout=0.5)
    x = torch.randn(2, 3, 50)
    assert not torch.equal(head(x), head(x))
    head.eval()
    assert torch.equal(head(x), head(x))


def test_the_bias_can_be_left_out() -> None:
    head = RegressionHead(d_model=2, outputs=3, bias=False)
    assert [name for name, _ in head.named_parameters()] == ["output.weight"]


def test_numbers_are_for_a_whole_sequence() -> None:
    with pytest.raises(ConfigError, match=r"^head\.pool='each' is unknown; use one of: cls, sep, mean, max, flatten$"):
        RegressionHead(d_model=2, outputs=1, pool="each")
