"""GELU in bfloat16 and the product that follows it, z = gelu(x) Wᵀ + b, which keep x alone for the backward pass.

    plain form    F.linear(F.gelu(x), W, b): torch's error function, right to the last bit of float32
    this form     for a compiled step on an accelerator; one kernel forward, one backward, which gives gelu(x) once more

The product's own slope needs gelu(x). A compiler that sees the formulas keeps it, or Φ(x) in float32, because forward
and backward pass have them in common; here it sees two kernels.

The error function by Hastings's formula (Abramowitz & Stegun 1964, 7.1.26): off by at most 1.5·10⁻⁷, and bfloat16 has
steps of 4·10⁻³ around 1. Every instruction counts: 30 for each number take as long as reading and writing it.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from torch import Tensor
from torch.library import triton_op, wrap_triton

BLOCK, WARPS = 1024, 4  # numbers of one program: 8 for each thread, a read as wide as there is
HASTINGS = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
A_1, A_2, A_3, A_4, A_5 = (tl.constexpr(0.5 * a) for a in HASTINGS)
NEARNESS = tl.constexpr(0.3275911 / math.sqrt(2.0))
EXPONENT = tl.constexpr(-0.5 / math.log(2.0))  # exp(−x²/2) as a power of 2, which is one instruction
DENSITY = tl.constexpr(1.0 / math.sqrt(2.0 * math.pi))


@triton.jit
def _distribution(x):
    r"""Φ(x), the normal distribution, and √(2π) φ(x), its density.

    1 − Φ(|x|) = exp(−x²/2) · (a_1 t + … + a_5 t⁵) / 2,   t = 1 / (1 + p |x|)

    t as 1/√(…)²: a multiplication and one instruction, where a division is eight.
    """
    density = tl.exp2(x * (x * EXPONENT))
    near = 1.0 + NEARNESS * tl.abs(x)
    t = tl.rsqrt(near * near)
    beyond = density * (((((A_5 * t + A_4) * t + A_3) * t + A_2) * t + A_1) * t)
    return tl.where(x < 0.0, beyond, 1.0 - beyond), density


@triton.jit
def _forward(X, Y, n, BLOCK: tl.constexpr):
    """y = x Φ(x)."""
    start = tl.program_id(0).to(tl.int64) * BLOCK
    at = tl.arange(0, BLOCK)
    inside = at < n - start
    x = tl.load(X + start + at, mask=inside, other=0.0).to(tl.float32)
    below, _ = _distribution(x)
    tl.store(Y + start + at, (x * below).to(Y.dtype.element_ty), mask=inside)


@triton.jit
def _backward(X, SLOPE, Y, n, BLOCK: tl.constexpr):
    """∂L/∂x = ∂L/∂y · (Φ(x) + x φ(x)) in the place of ∂L/∂y, and y = x Φ(x)."""
    start = tl.program_id(0).to(tl.int64) * BLOCK
    at = tl.arange(0, BLOCK)
    inside = at < n - start
    x = tl.load(X + start + at, mask=inside, other=0.0).to(tl.float32)
    dy = tl.load(SLOPE + start + at, mask=inside, other=0.0).to(tl.float32)
    below, density = _distribution(x)
    dx = dy * (below + x * density * DENSITY)
    tl.store(SLOPE + start + at, dx.to(SLOPE.dtype.element_ty), mask=inside)
    tl.store(Y + start + at, (x * below).to(Y.dtype.element_ty), mask=inside)


@triton_op("glassformer::gelu", mutates_args=())
def gelu(x: Tensor) -> Tensor:
    """x Φ(x)."""
    x = x.contiguous()
    y = torch.empty_like(x)
    wrap_triton(_forward)[(triton.cdiv(x.numel(), BLOCK),)](x, y, x.numel(), BLOCK=BLOCK, num_warps=WARPS)
    return y


@triton_op("glassformer::gelu_backward", mutates_args=("slope",))
def gelu_backward(x: Tensor, slope: Tensor) -> Tensor:
    """Turns ∂L/∂y into ∂L/∂x in its place, which must be contiguous; gives y = x Φ(x)."""
    x = x.contiguous()
    y = torch.empty_like(x)
    wrap_triton(_backward)[(triton.cdiv(x.numel(), BLOCK),)](x, slope, y, x.numel(), BLOCK=BLOCK, num_warps=WARPS)
    return y


class _GeluLinear(torch.autograd.Function):
    """z = y Wᵀ + b,  y = gelu(x);  dy = dz W,  dx = dy gelu'(x),  dW = dzᵀ y,  db = Σ dz."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.has_bias = bias is not None
        return F.linear(torch.ops.glassformer.gelu(x), weight, bias)

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        rows = slopes[0].reshape(-1, weight.shape[0])
        slope = rows @ weight  # dy, and from the next line on dx
        y = torch.ops.glassformer.gelu_backward(x.reshape(-1, weight.shape[1]), slope)
        db = rows.sum(0, dtype=torch.float32).to(rows.dtype) if ctx.has_bias else None
        return slope.view_as(x), rows.t() @ y, db


def gelu_linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """gelu(x) Wᵀ + b in the type of x, whatever that of W and b: autocast would cast them as well."""
    z: Tensor = _GeluLinear.apply(x, weight.to(x.dtype), None if bias is None else bias.to(x.dtype))
    return z
