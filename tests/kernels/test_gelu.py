"""GELU and its product against F.gelu and F.linear; on an accelerator, or by hand with TRITON_INTERPRET=1."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from kernel_device import DEVICE, INTERPRETED, KERNEL_TESTS

pytestmark = [
    *KERNEL_TESTS,
    pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning"),  # the interpreter's numpy
]
rounds = pytest.mark.skipif(INTERPRETED, reason="the interpreter cuts digits off instead of rounding to bfloat16")

X = torch.linspace(-12.0, 12.0, 200_001, device=DEVICE)
D, D_FF = 24, 100


def gelu(x: Tensor) -> Tensor:
    from glassformer.kernels.gelu import gelu

    y: Tensor = gelu(x)
    return y


def test_it_is_gelu_to_less_than_bfloat16_can_tell() -> None:
    from glassformer.kernels.gelu import gelu_backward

    exact = X.double().requires_grad_()
    right = F.gelu(exact)
    torch.testing.assert_close(gelu(X).double(), right, rtol=0, atol=5e-7)
    (right_slope,) = torch.autograd.grad(right.sum(), exact)
    slope = torch.full_like(X, 2.0)
    assert torch.equal(gelu_backward(X, slope), gelu(X))
    torch.testing.assert_close(slope.double() / 2, right_slope, rtol=0, atol=5e-7)


@rounds
def test_in_bfloat16_it_is_the_nearest_number_but_for_one_in_a_thousand() -> None:
    x = X[X.abs() < 4.0].bfloat16().unique()
    nearest = F.gelu(x.double()).bfloat16()
    assert (gelu(x) != nearest).float().mean() < 1e-3  # by torch's kernel, which has every digit of float32, one number
    torch.testing.assert_close(gelu(x), nearest, rtol=2**-7, atol=0)  # those that are not are its neighbours


def test_far_out_it_is_x_or_nothing() -> None:
    assert gelu(torch.tensor([20.0, -20.0, 1e38, -1e38], device=DEVICE)).tolist() == pytest.approx([20, 0, 1e38, 0])


@pytest.mark.parametrize("dtype", [torch.float32, pytest.param(torch.bfloat16, marks=rounds)], ids=str)
@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("turned", [True, False])
def test_values_and_slopes(turned: bool, biased: bool, dtype: torch.dtype) -> None:
    """Weights in float32, as under autocast; rows that do not fill the last program."""
    from glassformer.kernels.gelu import BLOCK, gelu_linear

    torch.manual_seed(0)
    x, weight, bias = torch.randn(7, 23, D_FF), torch.randn(D, D_FF) / 10, torch.randn(D)
    assert x.numel() > BLOCK and x.numel() % BLOCK
    given = [each.to(DEVICE).to(dtype).float() for each in (x.transpose(0, 1) if turned else x, weight, bias)]
    inputs = [each.requires_grad_() for each in given[: 3 if biased else 2]]
    z = gelu_linear(inputs[0].to(dtype), inputs[1], bias=inputs[2] if biased else None)
    plain = F.linear(F.gelu(inputs[0]), *inputs[1:])
    along = torch.randn_like(plain).to(dtype)
    found = z, *torch.autograd.grad(z, inputs, along)
    expected = plain, *torch.autograd.grad(plain, inputs, along.float())
    assert z.dtype == dtype and all(slope.dtype == torch.float32 for slope in found[1:])
    for one, other in zip(found, expected, strict=True):
        error, largest = (one.float() - other).abs().max(), other.abs().max()
        assert error <= (1e-5 if dtype == torch.float32 else 1e-2) * largest
