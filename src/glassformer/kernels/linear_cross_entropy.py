"""The last product and the cross-entropy after it, §3.4 and §5.4, without ever holding all logits.

    plain form    losses.chunked(project, cross_entropy, …): any head, any loss, any device
    this form     a head that is one matrix, cross-entropy with smoothing, an accelerator

Both take some rows at a time and have loss and slopes ready after the forward pass. Here a kernel reads the
logits of a row twice and writes their slopes into the same place, so that a chunk of logits is all there ever is.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from glassformer.kernels.chunk import LOGITS_AT_ONCE, chunk_rows, padded

BLOCK = 4096  # logits that a kernel holds at a time
EACH = 256  # of them for one warp: eight for each thread
LOG2_E = tl.constexpr(1.4426950408889634)  # exp z = 2^(z log₂ e), and powers of 2 are what the hardware has


@triton.jit
def _loss_and_slopes(
    Z, TARGET, LOSS, v, width, smoothing, IGNORE: tl.constexpr, SMOOTH: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    r"""One row of logits z: its loss, and z is overwritten by the slope of the loss.

    L = log Σ_k exp z_k − (1 − ε) z_target − ε mean(z)      ∂L/∂z_k = p_k − (1 − ε) [k = target] − ε / v

    Each column of the block has a maximum and a sum of its own; they meet once, after the last block.
    """
    row = tl.program_id(0)
    target = tl.load(TARGET + row)
    z_row = Z + row.to(tl.int64) * width
    columns = tl.arange(0, BLOCK)
    if target == IGNORE:
        for start in range(0, width, BLOCK):
            at = start + columns
            tl.store(z_row + at, tl.zeros((BLOCK,), Z.dtype.element_ty), mask=at < width)
        tl.store(LOSS + row, 0.0)
    else:
        z_target = tl.load(z_row + target).to(tl.float32)
        z = tl.load(z_row + columns, mask=columns < v, other=-1e30).to(tl.float32)
        highest, summed = z * LOG2_E, tl.full((BLOCK,), 1.0, tl.float32)  # so far: max z, Σ exp(z − highest)
        total = tl.where(columns < v, z, 0.0)  # Σ z
        for start in range(BLOCK, v, BLOCK):
            at = start + columns
            z = tl.load(z_row + at, mask=at < v, other=float("-inf")).to(tl.float32)
            above = z * LOG2_E - highest
            smaller = tl.exp2(-tl.abs(above))  # of the two, relative to the larger
            summed = tl.where(above > 0.0, summed * smaller + 1.0, summed + smaller)
            highest = tl.maximum(highest, z * LOG2_E)
            if SMOOTH:
                total += tl.where(at < v, z, 0.0)
        top = tl.max(highest, 0)
        log_sum = top + tl.log2(tl.sum(summed * tl.exp2(highest - top), 0))  # a logarithm to base 2, as `highest`
        loss = log_sum / LOG2_E - (1.0 - smoothing) * z_target
        if SMOOTH:
            loss -= smoothing * tl.sum(total, 0) / v
        tl.store(LOSS + row, loss)
        for start in range(0, width, BLOCK):
            at = start + columns
            z = tl.load(z_row + at, mask=at < v, other=float("-inf")).to(tl.float32)
            slope = tl.exp2(z * LOG2_E - log_sum) - tl.where(at == target, 1.0 - smoothing, 0.0)
            if SMOOTH:
                slope -= tl.where(at < v, smoothing / v, 0.0)
            tl.store(z_row + at, slope.to(Z.dtype.element_ty), mask=at < width)


def loss_and_slopes_(logits: Tensor, targets: Tensor, v: int, *, ignore: int, smoothing: float) -> Tensor:
    """The loss of each row, n; `logits`, n width, of which the first v columns count, become their slopes."""
    n, width = logits.shape
    losses = torch.empty(n, dtype=torch.float32, device=logits.device)
    block = min(BLOCK, triton.next_power_of_2(width))
    right = targets.contiguous()  # windows of one token are every other number of a row
    with torch.cuda.device_of(logits):  # Triton starts a kernel on the device at hand
        _loss_and_slopes[(n,)](
            logits, right, losses, v, width, smoothing,
            IGNORE=ignore, SMOOTH=smoothing > 0.0, BLOCK=block, num_warps=max(1, block // EACH),
        )  # fmt: skip
    return losses


def _add_product_(total: Tensor, a: Tensor, b: Tensor) -> None:
    """total += a b, summed in float32 whatever the type of the factors."""
    if a.dtype == total.dtype:
        total.addmm_(a, b)
    else:
        torch.addmm(total, a, b, out_dtype=total.dtype, out=total)


def _times(x: Tensor, factor: Tensor, dtype: torch.dtype) -> Tensor:
    """x · factor in this type, with nothing else in memory."""
    return x * factor if x.dtype == dtype else x.to(dtype).mul_(factor)


class _LinearCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, targets: Tensor, ignore: int, smoothing: float, dtype: torch.dtype
    ) -> Tensor:
        (n, d), v = x.shape, weight.shape[0]
        width = padded(v)
        matrix = weight.new_zeros(width, d, dtype=dtype)  # cast anyway, so padding it costs nothing
        matrix[:v] = weight
        low = x.to(dtype)  # n d
        along_x, along_w = torch.empty_like(low), weight.new_zeros(width, d, dtype=torch.float32)
        rows = chunk_rows(n, width, LOGITS_AT_ONCE)
        logits, total = low.new_empty(rows, width), x.new_zeros((), dtype=torch.float32)
        for start in range(0, n, rows):
            part, z = low[start : start + rows], logits[: min(rows, n - start)]
            torch.mm(part, matrix.T, out=z)  # rows width
            total += loss_and_slopes_(z, targets[start : start + rows], v, ignore=ignore, smoothing=smoothing).sum()
            torch.mm(z, matrix, out=along_x[start : start + rows])  # rows d
            _add_product_(along_w, z.T, part)
        ctx.save_for_backward(along_x, along_w[:v])
        ctx.dtypes = x.dtype, weight.dtype
        return total

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor | None, ...]:
        both = zip(ctx.saved_tensors, ctx.dtypes, strict=True)
        of_x, of_weight = (_times(along, slopes[0], dtype) for along, dtype in both)
        return of_x, of_weight, None, None, None, None


def linear_cross_entropy(
    x: Tensor, weight: Tensor, targets: Tensor, *, ignore: int, smoothing: float, dtype: torch.dtype
) -> Tensor:
    """Σ cross-entropy(x Wᵀ, targets) over the rows, n d, with products in `dtype`."""
    total: Tensor = _LinearCrossEntropy.apply(x, weight, targets, ignore, smoothing, dtype)
    return total
