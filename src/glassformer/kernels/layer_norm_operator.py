"""The backward kernel of layer_norm.py as an operator of torch, for compiled code: defining one loads the compiler."""

from __future__ import annotations

from torch import Tensor
from torch.library import triton_op, wrap_triton

from glassformer.kernels.layer_norm import backward_rows, prepared


@triton_op("glassformer::layer_norm_backward", mutates_args=())
def layer_norm_backward(
    dy: Tensor, residual: Tensor | None, x: Tensor, gamma: Tensor, mean: Tensor, rstd: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Slopes along x, γ and β; `residual` is added to the first."""
    (dx, d_gamma, d_beta), (given, options) = prepared(dy, residual, x, gamma, mean, rstd)
    wrap_triton(backward_rows)[(d_gamma.shape[0],)](*given, **options)
    return dx, d_gamma.sum(0), d_beta.sum(0)
