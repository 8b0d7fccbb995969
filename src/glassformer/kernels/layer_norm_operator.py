"""The backward pass of layer_norm.py as an operator of torch, for compiled code: defining one loads the compiler."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.library import custom_op

from glassformer.kernels.layer_norm import programs, slopes_by_program


@custom_op("glassformer::layer_norm_backward", mutates_args=())
def layer_norm_backward(
    dy: Tensor, residual: Tensor | None, x: Tensor, gamma: Tensor, mean: Tensor, rstd: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    return slopes_by_program(dy, residual, x, gamma, mean, rstd)


@layer_norm_backward.register_fake
def _(
    dy: Tensor, residual: Tensor | None, x: Tensor, gamma: Tensor, mean: Tensor, rstd: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    d_gamma = x.new_empty(programs(x.shape[-1]), x.shape[-1], dtype=torch.float32)
    return torch.empty_like(x, memory_format=torch.contiguous_format), d_gamma, torch.empty_like(d_gamma)
