from __future__ import annotations

import pytest
import torch
from torch import nn

from glassformer.training.ema import MovingAverage


def model(value: float = 1.0) -> nn.Linear:
    made = nn.Linear(2, 2)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.fill_(value)
    return made


def set_to(made: nn.Module, value: float) -> None:
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.fill_(value)


def test_the_average_by_hand() -> None:
    """d = 1/10, 2/11, then 0.25: a = 0.1·1 + 0.9·2, …"""
    made = model(1.0)
    ema = MovingAverage(made, 0.25)
    expected = 1.0
    for n, value in enumerate((2.0, 3.0, 5.0, 7.0, 9.0)):
        set_to(made, value)
        ema.update()
        decay = min(0.25, (1 + n) / (10 + n))
        expected = decay * expected + (1 - decay) * value
        assert ema.average["bias"].tolist() == pytest.approx([expected, expected], rel=1e-6)
    assert (1 + 4) / (10 + 4) > 0.25 > (1 + 1) / (10 + 1)


def test_the_average_is_in_use_only_for_a_while() -> None:
    made = model(1.0)
    ema = MovingAverage(made, 0.5)
    set_to(made, 3.0)
    before = made.weight.data_ptr()
    with pytest.raises(KeyError), ema.in_use():
        assert float(made.weight[0, 0].detach()) == 1.0
        assert made.weight.data_ptr() == before  # the optimiser's own tensors
        raise KeyError
    assert float(made.weight[0, 0].detach()) == 3.0
    assert float(ema.average["weight"][0, 0]) == 1.0


def test_it_is_loaded_bit_for_bit() -> None:
    made = model(1.0)
    ema, again = MovingAverage(made, 0.9), MovingAverage(model(1.0), 0.9)
    set_to(made, 0.3)
    ema.update()
    again.load(ema.average, ema.updates)
    assert again.updates == 1
    assert all(torch.equal(a, b) for a, b in zip(ema.average.values(), again.average.values(), strict=True))
