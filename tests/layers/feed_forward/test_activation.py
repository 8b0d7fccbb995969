from __future__ import annotations

import math

import pytest
import torch

from glassformer.layers.feed_forward import ACTIVATIONS

X = (-2.0, -0.5, 0.0, 0.5, 2.0)


def normal_distribution(x: float) -> float:
    return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


FORMULAS = {
    "relu": lambda x: max(0.0, x),
    "gelu": lambda x: x * normal_distribution(x),
    "gelu_tanh": lambda x: 0.5 * x * (1.0 + math.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3))),
    "silu": lambda x: x / (1.0 + math.exp(-x)),
    "sigmoid": lambda x: 1.0 / (1.0 + math.exp(-x)),
}


@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
def test_equals_its_formula(name: str) -> None:
    result = ACTIVATIONS[name](torch.tensor(X, dtype=torch.float64))
    expected = torch.tensor([FORMULAS[name](x) for x in X], dtype=torch.float64)
    torch.testing.assert_close(result, expected, atol=1e-12, rtol=0)


def test_values_worked_by_hand() -> None:
    one = torch.tensor(1.0, dtype=torch.float64)
    assert ACTIVATIONS["gelu"](one).item() == pytest.approx(0.841345, abs=1e-6)  # Φ(1)
    assert ACTIVATIONS["gelu_tanh"](one).item() == pytest.approx(0.841192, abs=1e-6)
    assert ACTIVATIONS["silu"](one).item() == pytest.approx(0.731059, abs=1e-6)  # σ(1)
    assert ACTIVATIONS["relu"](-one).item() == 0.0
