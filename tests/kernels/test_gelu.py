"""GELU with a shorter error function against torch's."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from glassformer.kernels.gelu import gelu, suits

X = torch.linspace(-12.0, 12.0, 200_001)


def test_it_is_gelu_to_less_than_bfloat16_can_tell() -> None:
    x, exact = X.clone().requires_grad_(), X.double().requires_grad_()
    y, right = gelu(x), F.gelu(exact)
    torch.testing.assert_close(y.double(), right, rtol=0, atol=5e-7)
    (slope,), (right_slope,) = torch.autograd.grad(y.sum(), x), torch.autograd.grad(right.sum(), exact)
    torch.testing.assert_close(slope.double(), right_slope, rtol=0, atol=5e-7)


def test_in_bfloat16_it_is_no_further_from_the_nearest_number_than_torchs() -> None:
    x = X[X.abs() < 4.0].bfloat16().unique()
    nearest = F.gelu(x.double()).bfloat16()
    assert (gelu(x) != nearest).sum() <= (F.gelu(x) != nearest).sum()
    torch.testing.assert_close(gelu(x), nearest, rtol=2**-7, atol=0)  # those that are not are its neighbours


def test_whoever_does_not_compile_for_an_accelerator_gets_torchs() -> None:
    assert not suits(X) and not suits(X.bfloat16())
