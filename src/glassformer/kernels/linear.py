"""x Wᵀ + b, the product that Transformers are made of; on a CPU by oneDNN where it is large.

    plain form    F.linear: on a CPU, MKL's product
    this form     the same by oneDNN, which comes with torch and uses all of a processor that is not Intel's

While the same weights serve many small products, as in decoding, each is kept in the order the kernel reads it in:
q, k and v as one matrix, and with ReLU as a part of the product.
"""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn
from torch.utils.flop_counter import register_flop_formula

from glassformer.kernels import compiled_in_bfloat16, in_the_open
from glassformer.kernels.memory import keep_memory
from glassformer.tap import observed

ONEDNN = torch.backends.mkldnn.is_available() and platform.machine() in ("x86_64", "AMD64")
LARGE, LARGE_PACKED = 1 << 22, 1 << 20  # multiplications from which it wins
PACKED_ROWS = 4  # with fewer rows, reading the weights takes all the time, in whichever order they are


class PackedWeight(NamedTuple):
    """One matrix in the kernel's order, or several as one, below each other, with their biases."""

    made_of: tuple[Tensor, ...]  # held as well, so that their ids stay their own
    weight: Tensor
    bias: Tensor | None


PackedWeights = dict[tuple[int, ...], PackedWeight]  # by the ids of the matrices they are made of

_plain: ContextVar[bool] = ContextVar("plain", default=False)
_packed: ContextVar[PackedWeights | None] = ContextVar("packed", default=None)


class Linear(nn.Linear):
    """nn.Linear by `linear_map`."""

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002, torch's name
        return linear_map(input, self.weight, self.bias)


def linear_map(
    x: Float[Tensor, "*b d"], weight: Float[Tensor, "n d"], bias: Float[Tensor, " n"] | None = None
) -> Float[Tensor, "*b n"]:
    """x Wᵀ + b."""
    if not ONEDNN or not in_the_open(x, weight) or torch.is_autocast_enabled("cpu") or _plain.get():
        return F.linear(x, weight, bias)
    work, known = x.numel() * weight.shape[0], _packed.get()
    if torch.is_grad_enabled() and any(each is not None and each.requires_grad for each in (x, weight, bias)):
        return _Linear.apply(x, weight, bias) if work >= LARGE else F.linear(x, weight, bias)
    if known is not None and _is_worth_packing(x, weight.shape[0]):
        return _product(x, _in_order(known, [weight], [None]).weight, bias)
    return _product(x, weight, bias) if work >= LARGE else F.linear(x, weight, bias)


def _product(x: Tensor, weight: Tensor, bias: Tensor | None, then: str = "none") -> Tensor:
    result: Tensor = torch.ops.mkldnn._linear_pointwise(x, weight, bias, then, [], "")
    return result


if ONEDNN:  # torch's counter of FLOPs does not know it by itself
    register_flop_formula(torch.ops.mkldnn._linear_pointwise)(lambda x, weight, *_, **__: 2 * math.prod(x) * weight[0])


class _Linear(torch.autograd.Function):
    """y = x Wᵀ + b;  dx = dy W,  dW = dyᵀ x,  db = Σ dy."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.has_bias = bias is not None
        return _product(x, weight, bias)

    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        token = _packed.set(None)  # Wᵀ is another tensor in each pass: packed, it would be held and never used again
        try:
            dx = linear_map(dy, weight.t()) if ctx.needs_input_grad[0] else None
        finally:
            _packed.reset(token)
        rows = dy.reshape(-1, dy.shape[-1])  # a single vector is a row, too
        dw = rows.t() @ x.reshape(-1, x.shape[-1]) if ctx.needs_input_grad[1] else None  # MKL is as fast here
        db = rows.sum(0) if ctx.has_bias and ctx.needs_input_grad[2] else None
        return dx, dw, db


@contextmanager
def plain_products() -> Iterator[None]:
    """Inside, every product is torch's own: for a comparison with others to the last digits."""
    token = _plain.set(True)
    try:
        yield
    finally:
        _plain.reset(token)


@contextmanager
def packed_weights(known: PackedWeights | None = None) -> Iterator[None]:
    """Inside, nobody changes the weights, and each is held a second time in the kernel's order once it is used.

    `known`: those held already, to which new ones are added. A generator keeps them between its steps, and enters anew
    for each step: whoever reads it must not find the weights packed.
    Many small products have many small results: memory that was freed stays at hand for the next.
    """
    if _packed.get() is not None:
        yield
        return
    keep_memory()
    token = _packed.set({} if known is None else known)
    try:
        yield
    finally:
        _packed.reset(token)


def are_packed(*tensors: Tensor) -> bool:
    """Whether weights are packed for these, and nobody looks or asks for slopes: then other forms may run as well."""
    return (
        in_the_open(*tensors)  # first: a compiler cannot read what follows
        and _packed.get() is not None
        and not torch.is_grad_enabled()
        and not observed()
        and not torch.is_autocast_enabled("cpu")
    )


def packs(x: Tensor, *layers: nn.Module) -> bool:
    """Whether x goes through these layers as one product with packed weights: see `joint_packed`."""
    if not ONEDNN or not are_packed(x) or any(type(layer) is not Linear for layer in layers):
        return False
    linear = [layer for layer in layers if isinstance(layer, Linear)]
    alike = len({layer.bias is None for layer in linear}) == 1
    return alike and in_the_open(*(layer.weight for layer in linear)) and _is_worth_packing(x, linear[0].out_features)


def joint_packed(x: Tensor, *layers: nn.Linear) -> tuple[Tensor, ...]:
    """The outputs of all layers for x, by one product."""
    known = _packed.get()
    assert known is not None
    together = _in_order(known, [layer.weight for layer in layers], [layer.bias for layer in layers])
    return _product(x, together.weight, together.bias).split([layer.out_features for layer in layers], -1)


def activated(x: Tensor, layer: nn.Module, activation: Callable[[Tensor], Tensor]) -> Tensor:
    """activation(layer(x)); ReLU as a part of the product costs nothing: packed, or see relu.py."""
    if activation is F.relu and type(layer) is Linear:
        if packs(x, layer):
            known = _packed.get()
            assert known is not None
            return _product(x, _in_order(known, [layer.weight], [None]).weight, layer.bias, "relu")
        if layer.bias is not None and compiled_in_bfloat16(x):
            from glassformer.kernels.relu import linear_relu

            return linear_relu(x, layer.weight, layer.bias)
    return activation(layer(x))


def keeps_less(x: Tensor, layer: nn.Module, activation: Callable[[Tensor], Tensor]) -> bool:
    """Whether activation and layer keep less as one function, `gelu_layer`, if nothing is between them."""
    return activation is F.gelu and type(layer) is Linear and compiled_in_bfloat16(x)


def gelu_layer(x: Tensor, layer: nn.Linear) -> Tensor:
    """layer(F.gelu(x)), which keeps x alone: see gelu.py."""
    from glassformer.kernels.gelu import gelu_linear

    return gelu_linear(x, layer.weight, layer.bias)


def _is_worth_packing(x: Tensor, outputs: int) -> bool:
    return x.numel() * outputs >= LARGE_PACKED and x.numel() >= PACKED_ROWS * x.shape[-1]


def _in_order(known: PackedWeights, weights: list[Tensor], biases: Sequence[Tensor | None]) -> PackedWeight:
    key = tuple(map(id, weights))
    if key not in known:
        weight = weights[0] if len(weights) == 1 else torch.cat(weights)
        given = [bias.detach() for bias in biases if bias is not None]
        bias = torch.cat(given) if given else None
        in_order = torch.ops.mkldnn._reorder_linear_weight(weight.detach(), None)
        known[key] = PackedWeight(tuple(weights), in_order, bias)
    return known[key]
