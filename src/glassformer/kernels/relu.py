"""relu(x Wᵀ + b) in bfloat16 as one product, which keeps its result alone for the backward pass.

    plain form    F.relu(F.linear(x, W, b)): the product is written, read and written again
    this form     for a compiled step on an accelerator: cuBLAS adds b and takes ReLU before it writes

A compiler takes torch's own function for it apart, so it is an operation of its own. The result is kept for the product
that follows, and shows where the slope is 0: nothing is computed twice.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.library import custom_op
from torch.utils.flop_counter import register_flop_formula


@custom_op("glassformer::linear_relu", mutates_args=())
def _product(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return torch._addmm_activation(bias, x, weight.t())


@_product.register_fake
def _(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return x.new_empty(x.shape[0], weight.shape[0])


register_flop_formula(torch.ops.glassformer.linear_relu)(lambda x, weight, *_, **__: 2 * math.prod(x) * weight[0])


class _LinearRelu(torch.autograd.Function):
    """y = relu(x Wᵀ + b);  d = dy where y > 0, else 0;  dx = d W,  dW = dᵀ x,  db = Σ d."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        y: Tensor = torch.ops.glassformer.linear_relu(x, weight, bias)
        ctx.save_for_backward(x, weight, y)
        return y

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor, ...]:
        x, weight, y = ctx.saved_tensors
        d = torch.ops.aten.threshold_backward(slopes[0], y, 0)
        return d @ weight, d.t() @ x, d.sum(0, dtype=torch.float32).to(d.dtype)


def linear_relu(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """relu(x Wᵀ + b) in bfloat16, whatever the types given: autocast would cast them as well."""
    rows = x.reshape(-1, x.shape[-1]).bfloat16()
    y: Tensor = _LinearRelu.apply(rows, weight.bfloat16(), bias.bfloat16())
    return y.view(*x.shape[:-1], weight.shape[0])
