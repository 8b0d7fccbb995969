"""Layer normalisation, each pass in one kernel that reads each number once; backward adds the residual's slope.

    plain form    layers/norm.LayerNorm: F.layer_norm and what torch derives from it
    this form     forward in the types of the stream and of the products, with no copy in float32; backward by hand
    compiled      forward by the equation, which a compiler fuses with what stands before it; backward as above

What a compiler makes of the backward pass reads everything three times: for the rows, for γ and for β.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

PROGRAMS = 132 * 8  # of at most 512 numbers a row: as many as the largest accelerators run at once, and no second turn
ROWS = 2  # of one program at a time


@triton.jit
def _forward_rows(
    X, GAMMA, BETA, Y, MEAN, RSTD, m, d, eps, HAS_BETA: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr
):  # fmt: skip
    """Some rows: γ ⊙ (x − mean) · rstd + β, and their mean and rstd = 1/√(var + ε), all computed in float32."""
    columns = tl.arange(0, WIDTH)
    inside = columns < d
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = rows[:, None].to(tl.int64) * d + columns[None, :]
    ok = (rows[:, None] < m) & inside[None, :]
    x = tl.load(X + at, mask=ok, other=0.0).to(tl.float32)
    mean = tl.sum(x, 1) / d
    apart = tl.where(ok, x - mean[:, None], 0.0)
    rstd = 1.0 / tl.sqrt(tl.sum(apart * apart, 1) / d + eps)
    y = apart * rstd[:, None] * tl.load(GAMMA + columns, mask=inside, other=0.0).to(tl.float32)[None, :]
    if HAS_BETA:
        y += tl.load(BETA + columns, mask=inside, other=0.0).to(tl.float32)[None, :]
    tl.store(Y + at, y.to(Y.dtype.element_ty), mask=ok)
    tl.store(MEAN + rows, mean, mask=rows < m)
    tl.store(RSTD + rows, rstd, mask=rows < m)


@triton.jit
def _backward_rows(
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


def _warps(width: int) -> int:
    return 4 if width > 512 else 2


def _rows_backward(width: int) -> int:
    """Of one program at a time: as many as its registers hold."""
    return 2 * ROWS if width <= 1024 else ROWS


def programs(d: int) -> int:
    """How many share the rows of the backward pass; each adds up its own part of γ's and β's slopes."""
    return max(1, PROGRAMS * 512 // max(512, triton.next_power_of_2(d)))


def slopes_by_program(
    dy: Tensor, residual: Tensor | None, x: Tensor, gamma: Tensor, mean: Tensor, rstd: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The slope along x, `residual` added; the parts of γ's and β's, programs d."""
    x, mean, rstd = x.contiguous(), mean.contiguous(), rstd.contiguous()  # the kernel counts rows in this order
    d = x.shape[-1]
    m, width, n = x.numel() // d, triton.next_power_of_2(d), programs(d)
    rows = _rows_backward(width)
    dx = torch.empty_like(x)
    d_gamma, d_beta = (x.new_empty(n, d, dtype=torch.float32) for _ in range(2))
    beside = x if residual is None else residual.contiguous()
    with torch.cuda.device_of(x):  # Triton starts a kernel on the device at hand
        _backward_rows[(n,)](
            dy.contiguous(), beside, x, gamma, mean, rstd, dx, d_gamma, d_beta, m, d, triton.cdiv(m, rows * n),
            HAS_RESIDUAL=residual is not None, ROWS=rows, WIDTH=width, num_warps=_warps(width),
        )  # fmt: skip
    return dx, d_gamma, d_beta


def _backward(
    dy: Tensor, residual: Tensor | None, x: Tensor, gamma: Tensor, mean: Tensor, rstd: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Slopes along x, γ and β; `residual` is added to the first."""
    compiling = torch.compiler.is_compiling()
    slopes = torch.ops.glassformer.layer_norm_backward if compiling else slopes_by_program
    dx, d_gamma, d_beta = slopes(dy, residual, x, gamma, mean, rstd)
    return dx, d_gamma.sum(0), d_beta.sum(0)


def _forward(
    x: Tensor, gamma: Tensor, beta: Tensor | None, eps: float, dtype: torch.dtype
) -> tuple[Tensor, Tensor, Tensor]:
    """LayerNorm(x) in `dtype`, and in float32 the mean and 1/deviation of each row."""
    if torch.compiler.is_compiling():
        wide = x.float()
        mean = wide.mean(-1, keepdim=True)  # *rows 1
        rstd = torch.rsqrt((wide - mean).square().mean(-1, keepdim=True) + eps)  # *rows 1
        normal = (wide - mean) * rstd * gamma
        y = normal if beta is None else normal + beta
        return y if dtype == y.dtype else y.to(dtype), mean, rstd  # `y.to` of its own type has no slope in torch 2.11
    x, d = x.contiguous(), x.shape[-1]
    m, width = x.numel() // d, triton.next_power_of_2(d)
    y = torch.empty_like(x, dtype=dtype)
    mean, rstd = x.new_empty(2, *x.shape[:-1], 1, dtype=torch.float32)  # *rows 1
    with torch.cuda.device_of(x):
        _forward_rows[(triton.cdiv(m, ROWS),)](
            x, gamma, gamma if beta is None else beta, y, mean, rstd, m, d, eps,
            HAS_BETA=beta is not None, ROWS=ROWS, WIDTH=width, num_warps=_warps(width),
        )  # fmt: skip
    return y, mean, rstd


class _Norm(torch.autograd.Function):
    """x → LayerNorm(x)."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, gamma: Tensor, beta: Tensor | None, eps: float, dtype: torch.dtype) -> Tensor:
        y, mean, rstd = _forward(x, gamma, beta, eps, dtype)
        ctx.save_for_backward(x, gamma, mean, rstd)
        ctx.has_beta = beta is not None
        return y

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor | None, ...]:
        x, gamma, mean, rstd = ctx.saved_tensors
        dx, d_gamma, d_beta = _backward(slopes[0], None, x, gamma, mean, rstd)
        return dx, d_gamma.to(gamma.dtype), d_beta.to(gamma.dtype) if ctx.has_beta else None, None, None


class _Branch(torch.autograd.Function):
    """x → (x, LayerNorm(x)): the stream goes on unchanged, and its norm goes into a sub-layer."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, gamma: Tensor, beta: Tensor | None, eps: float, dtype: torch.dtype
    ) -> tuple[Tensor, Tensor]:
        y, mean, rstd = _forward(x, gamma, beta, eps, dtype)
        ctx.save_for_backward(x, gamma, mean, rstd)
        ctx.has_beta = beta is not None
        return x.view_as(x), y

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor | None, ...]:
        residual, dy = slopes
        x, gamma, mean, rstd = ctx.saved_tensors
        dx, d_gamma, d_beta = _backward(dy, residual, x, gamma, mean, rstd)
        return dx, d_gamma.to(gamma.dtype), d_beta.to(gamma.dtype) if ctx.has_beta else None, None, None


def branch(x: Tensor, gamma: Tensor, beta: Tensor | None, eps: float, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """x and LayerNorm(x), the latter in `dtype`."""
    _meet_compiler()
    stream, y = _Branch.apply(x, gamma, beta, eps, dtype)
    return stream, y


def layer_norm(x: Tensor, gamma: Tensor, beta: Tensor | None, eps: float, dtype: torch.dtype) -> Tensor:
    """LayerNorm(x) in `dtype`."""
    _meet_compiler()
    y: Tensor = _Norm.apply(x, gamma, beta, eps, dtype)
    return y


def _meet_compiler() -> None:
    """A compiler sees the backward kernel as an operator of torch, which takes seconds to define."""
    if torch.compiler.is_compiling():
        import glassformer.kernels.layer_norm_operator  # noqa: F401
