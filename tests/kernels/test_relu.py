"""ReLU inside its product against F.relu after it."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from glassformer.kernels.relu import linear_relu

D, D_FF = 48, 80


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> str:
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("needs an accelerator")
    return str(request.param)


def given(*shape: int, device: str, scale: float = 1.0) -> Tensor:
    """Numbers that bfloat16 holds exactly, in float32."""
    numbers = torch.randn(*shape, generator=torch.Generator().manual_seed(shape[0])) * scale
    return numbers.bfloat16().float().to(device).requires_grad_()


def close(found: Tensor, expected: Tensor) -> bool:
    return bool((found.float() - expected).abs().max() <= 1e-2 * expected.abs().max())


@pytest.mark.parametrize("shape", [(5, 7, D), (33, D)])
def test_values_and_slopes(shape: tuple[int, ...], device: str) -> None:
    inputs = given(*shape, device=device), given(D_FF, D, device=device, scale=0.2), given(D_FF, device=device)
    y, plain = linear_relu(*inputs), F.relu(F.linear(*inputs))
    assert y.dtype == torch.bfloat16 and y.shape == plain.shape and close(y, plain)
    along = torch.randn_like(plain).bfloat16()
    found = torch.autograd.grad(y, inputs, along)
    for one, other in zip(found, torch.autograd.grad(plain, inputs, along.float()), strict=True):
        assert one.dtype == torch.float32 and close(one, other)


def test_its_flops_are_counted(device: str) -> None:
    inputs = given(5, 7, D, device=device), given(D_FF, D, device=device), given(D_FF, device=device)
    with FlopCounterMode(display=False) as counter:
        linear_relu(*inputs).sum().backward()
    assert counter.get_total_flops() == 3 * 2 * 35 * D * D_FF
