"""GELU in 16 bits, x Φ(x), with one exponential and one division where the exact error function takes twice as long.

    plain form    F.gelu: torch's erf, right to the last bit of float32
    this form     for a compiled step on an accelerator in bfloat16; a compiler makes one kernel of it each way

The error function by Hastings's formula (Abramowitz & Stegun 1964, 7.1.26): off by at most 1.5·10⁻⁷, and bfloat16 has
steps of 4·10⁻³ around 1.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

HASTINGS = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
NEARNESS = 0.3275911 / math.sqrt(2.0)


def suits(x: Tensor) -> bool:
    """Whether this form is the faster one: fused by a compiler, in a type that hides its error."""
    return x.device.type == "cuda" and x.dtype == torch.bfloat16 and torch.compiler.is_compiling()


def _distribution(x: Tensor) -> tuple[Tensor, Tensor]:
    r"""Φ(x) and x φ(x), the normal distribution and x times its density, in float32.

    1 − Φ(|x|) = exp(−x²/2) · (a_1 t + … + a_5 t⁵) / 2,   t = 1 / (1 + p |x|)
    """
    density = torch.exp(-0.5 * x * x)  # √(2π) φ(x)
    t = 1.0 / (1.0 + NEARNESS * x.abs())
    sum_ = torch.zeros_like(t)
    for a in reversed(HASTINGS):
        sum_ = (sum_ + a) * t
    beyond = 0.5 * density * sum_
    return torch.where(x < 0.0, beyond, 1.0 - beyond), x * density / math.sqrt(2.0 * math.pi)


class _Gelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        wide = x.float()
        below, _ = _distribution(wide)
        return (wide * below).to(x.dtype)

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        below, moment = _distribution(x.float())
        return (slopes[0].float() * (below + moment)).to(x.dtype)


def gelu(x: Tensor) -> Tensor:
    """x Φ(x)."""
    y: Tensor = _Gelu.apply(x)
    return y
