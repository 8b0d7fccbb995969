"""The backward pass of layer normalisation in one kernel: each number is read once, and the residual's slope is added.

    plain form    layers/norm.LayerNorm: F.layer_norm and what torch derives from it
    this form     the same forward equation, which a compiler fuses with what stands before it; backward by hand

What a compiler makes of the backward pass reads everything three times: for the rows, for γ and for β.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.library import triton_op, wrap_triton

PROGRAMS = 132 * 8  # enough for the largest accelerators; each adds up its own share of γ's and β's slopes
ROWS = 2  # of one program at a time


@triton.jit
def _backward(
    DY, RESIDUAL, X, GAMMA, MEAN, RSTD, DX, D_GAMMA, D_BETA, m, d, each,
    HAS_RESIDUAL: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    r"""Some rows: ∂L/∂x, and the program's share of ∂L/∂γ and ∂L/∂β.

    n = (x − mean) · rstd,  g = γ ⊙ ∂L/∂y      ∂L/∂x = rstd · (g − mean(g) − n · mean(g ⊙ n))  (+ the residual's)
    """
    columns = tl.arange(0, WIDTH)
    inside = columns < d
    gamma = tl.load(GAMMA + columns, mask=inside, other=0.0).to(tl.float32)
    d_gamma, d_beta = tl.zeros((WIDTH,), tl.float32), tl.zeros((WIDTH,), tl.float32)
    for i in range(each):
        rows = (tl.program_id(0) * each + i) * ROWS + tl.arange(0, ROWS)
        at = rows[:, None].to(tl.int64) * d + columns[None, :]
        ok = (rows[:, None] < m) & inside[None, :]
        dy = tl.load(DY + at, mask=ok, other=0.0).to(tl.float32)
        x = tl.load(X + at, mask=ok, other=0.0).to(tl.float32)
        mean = tl.load(MEAN + rows, mask=rows < m, other=0.0)
        rstd = tl.load(RSTD + rows, mask=rows < m, other=0.0)
        n = tl.where(ok, (x - mean[:, None]) * rstd[:, None], 0.0)
        g = dy * gamma[None, :]
        dx = (g - (tl.sum(g, 1) / d)[:, None] - n * (tl.sum(g * n, 1) / d)[:, None]) * rstd[:, None]
        if HAS_RESIDUAL:
            dx += tl.load(RESIDUAL + at, mask=ok, other=0.0).to(tl.float32)
        tl.store(DX + at, dx.to(DX.dtype.element_ty), mask=ok)
        d_gamma += tl.sum(dy * n, 0)
        d_beta += tl.sum(dy, 0)
    share = tl.program_id(0) * d + columns
    tl.store(D_GAMMA + share, d_gamma, mask=inside)
    tl.store(D_BETA + share, d_beta, mask=inside)


@triton_op("glassformer::layer_norm_backward", mutates_args=())
def layer_norm_backward(
    dy: Tensor, residual: Tensor | None, x: Tensor, gamma: Tensor, mean: Tensor, rstd: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Slopes along x, γ and β; `residual` is added to the first."""
    x, mean, rstd = x.contiguous(), mean.contiguous(), rstd.contiguous()  # the kernel counts rows in this order
    d = x.shape[-1]
    m = x.numel() // d
    dx = torch.empty_like(x)
    d_gamma = torch.empty(PROGRAMS, d, dtype=torch.float32, device=x.device)
    d_beta = torch.empty_like(d_gamma)
    width = triton.next_power_of_2(d)
    wrap_triton(_backward)[(PROGRAMS,)](
        dy.contiguous(), x if residual is None else residual.contiguous(), x, gamma, mean, rstd, dx, d_gamma, d_beta,
        m, d, triton.cdiv(m, ROWS * PROGRAMS),
        HAS_RESIDUAL=residual is not None, ROWS=ROWS, WIDTH=width, num_warps=4 if width > 512 else 2,
    )  # fmt: skip
    return dx, d_gamma.sum(0), d_beta.sum(0)


def _forward(x: Tensor, gamma: Tensor, beta: Tensor | None, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """LayerNorm(x) in float32, and the mean and 1/deviation of each row."""
    wide = x.float()
    mean = wide.mean(-1, keepdim=True)  # *rows 1
    rstd = torch.rsqrt((wide - mean).square().mean(-1, keepdim=True) + eps)  # *rows 1
    y = (wide - mean) * rstd * gamma
    return y if beta is None else y + beta, mean, rstd


class _Norm(torch.autograd.Function):
    """x → LayerNorm(x)."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, gamma: Tensor, beta: Tensor | None, eps: float, dtype: torch.dtype) -> Tensor:
        y, mean, rstd = _forward(x, gamma, beta, eps)
        ctx.save_for_backward(x, gamma, mean, rstd)
        ctx.has_beta = beta is not None
        return y.to(dtype)

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor | None, ...]:
        x, gamma, mean, rstd = ctx.saved_tensors
        dx, d_gamma, d_beta = torch.ops.glassformer.layer_norm_backward(slopes[0], None, x, gamma, mean, rstd)
        return dx, d_gamma.to(gamma.dtype), d_beta.to(gamma.dtype) if ctx.has_beta else None, None, None


class _Branch(torch.autograd.Function):
    """x → (x, LayerNorm(x)): the stream goes on unchanged, and its norm goes into a sub-layer."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, gamma: Tensor, beta: Tensor | None, eps: float, dtype: torch.dtype
    ) -> tuple[Tensor, Tensor]:
        y, mean, rstd = _forward(x, gamma, beta, eps)
        ctx.save_for_backward(x, gamma, mean, rstd)
        ctx.has_beta = beta is not None
        return x.view_as(x), y.to(dtype)

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor | None, ...]:
        residual, dy = slopes
        x, gamma, mean, rstd = ctx.saved_tensors
        dx, d_gamma, d_beta = torch.ops.glassformer.layer_norm_backward(dy, residual, x, gamma, mean, rstd)
        return dx, d_gamma.to(gamma.dtype), d_beta.to(gamma.dtype) if ctx.has_beta else None, None, None


def branch(x: Tensor, gamma: Tensor, beta: Tensor | None, eps: float, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """x and LayerNorm(x), the latter in `dtype`."""
    stream, y = _Branch.apply(x, gamma, beta, eps, dtype)
    return stream, y


def layer_norm(x: Tensor, gamma: Tensor, beta: Tensor | None, eps: float, dtype: torch.dtype) -> Tensor:
    """LayerNorm(x) in `dtype`."""
    y: Tensor = _Norm.apply(x, gamma, beta, eps, dtype)
    return y
