"""The kernels of short_texts.py as operators of torch, for compiled code: defining one loads the compiler."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.library import triton_op, wrap_triton
from torch.utils.flop_counter import register_flop_formula

from glassformer.kernels.short_texts import backward_head, forward_head, prepared, prepared_slopes


@triton_op("glassformer::short_texts", mutates_args=())
def short_texts(
    q: Tensor, k: Tensor, v: Tensor, allowed: Tensor | None, seed: Tensor | None, causal: bool, scale: float, p: float
) -> Tensor:
    """Attention(Q, K, V), in memory as b t h d_v."""
    out, (given, options) = prepared(q, k, v, allowed, seed, causal, scale, p)
    wrap_triton(forward_head)[(q.shape[0] * q.shape[1],)](*given, **options)
    return out


@triton_op("glassformer::short_texts_backward", mutates_args=())
def short_texts_backward(
    d_out: Tensor, q: Tensor, k: Tensor, v: Tensor, allowed: Tensor | None, seed: Tensor | None,
    causal: bool, scale: float, p: float,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """∂L/∂Q, ∂L/∂K and ∂L/∂V, each in memory as b t h d; `d_out` likewise."""
    slopes, (given, options) = prepared_slopes(d_out, q, k, v, allowed, seed, causal, scale, p)
    wrap_triton(backward_head)[(q.shape[0] * q.shape[1],)](*given, **options)
    return slopes


@register_flop_formula(torch.ops.glassformer.short_texts)
def _products(q: tuple[int, ...], k: tuple[int, ...], v: tuple[int, ...], *_: Any, **__: Any) -> int:
    """Q Kᵀ and A V."""
    return 2 * math.prod(q[:3]) * k[2] * (q[3] + v[3])


@register_flop_formula(torch.ops.glassformer.short_texts_backward)
def _products_of_slopes(d: Any, q: tuple[int, ...], k: tuple[int, ...], v: tuple[int, ...], *_: Any, **__: Any) -> int:
    """Q Kᵀ again, and the four of the slopes."""
    return 2 * math.prod(q[:3]) * k[2] * (3 * q[3] + 2 * v[3])
