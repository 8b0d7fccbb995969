"""The kernels of short_texts.py as operators of torch, for compiled code: defining one loads the compiler."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.library import custom_op
from torch.utils.flop_counter import register_flop_formula

from glassformer.kernels.short_texts import attention, memory_for, memory_for_slopes, slopes


@custom_op("glassformer::short_texts", mutates_args=())
def short_texts(
    q: Tensor, k: Tensor, v: Tensor, allowed: Tensor | None, seed: Tensor | None, causal: bool, scale: float, p: float
) -> Tensor:
    return attention(q, k, v, allowed, seed, causal, scale, p)


@short_texts.register_fake
def _(q: Tensor, k: Tensor, v: Tensor, *_: Any) -> Tensor:
    return memory_for(q, v)


@custom_op("glassformer::short_texts_backward", mutates_args=())
def short_texts_backward(
    d_out: Tensor, q: Tensor, k: Tensor, v: Tensor, allowed: Tensor | None, seed: Tensor | None,
    causal: bool, scale: float, p: float,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    return slopes(d_out, q, k, v, allowed, seed, causal, scale, p)


@short_texts_backward.register_fake
def _(d_out: Tensor, q: Tensor, k: Tensor, v: Tensor, *_: Any) -> tuple[Tensor, Tensor, Tensor]:
    return memory_for_slopes(q, k, v)


@register_flop_formula(torch.ops.glassformer.short_texts)
def _products(q: tuple[int, ...], k: tuple[int, ...], v: tuple[int, ...], *_: Any, **__: Any) -> int:
    """Q Kᵀ and A V."""
    return 2 * math.prod(q[:3]) * k[2] * (q[3] + v[3])


@register_flop_formula(torch.ops.glassformer.short_texts_backward)
def _products_of_slopes(d: Any, q: tuple[int, ...], k: tuple[int, ...], v: tuple[int, ...], *_: Any, **__: Any) -> int:
    """Q Kᵀ again, and the four of the slopes."""
    return 2 * math.prod(q[:3]) * k[2] * (3 * q[3] + 2 * v[3])
