"""How far each sub-layer moves the residual stream, measured in one recorded pass: ‖f(x)‖ / ‖x‖, token by token."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from glassformer.models.stack import Stack
from glassformer.trace.record import record
from glassformer.trace.trace import Trace

SUBLAYERS = {
    "encoder": ("self_attention", "feed_forward"),
    "decoder": ("self_attention", "cross_attention", "feed_forward"),
}
TAPS = ("input", "blocks.*.after_*", "blocks.*.output")


def contributions(model: nn.Module, side: str, run: Callable[[], Tensor], real: Tensor) -> dict[str, list[float]]:
    r"""For each sub-layer, and for the whole layer, one number per layer, averaged over the real tokens (b t).

    sub-layer   ‖f(x)‖ / ‖x‖, x the stream that reaches it, f(x) what it adds
    whole       ‖x_out − x_in‖ / ‖x_in‖
    """
    with torch.no_grad(), record(model, [f"{side}.{tap}" for tap in TAPS]) as trace:
        run()
    stack = getattr(model, side)
    assert isinstance(stack, Stack)
    rows = [_layer(trace, side, layer, real) for layer in range(len(stack.blocks))]
    return {name: [row[name] for row in rows] for name in rows[0]}


def _layer(trace: Trace, side: str, layer: int, real: Tensor) -> dict[str, float]:
    path = f"{side}.blocks.{layer}"
    entering = trace[f"{side}.input" if layer == 0 else f"{side}.blocks.{layer - 1}.output"]  # b t d_model
    x, found = entering, {}
    for name in SUBLAYERS[side]:
        found[name] = relative(trace[f"{path}.{name}.output"], x, real)
        x = trace[f"{path}.output" if name == "feed_forward" else f"{path}.after_{name}"]
    found["whole"] = relative(x - entering, entering, real)
    return found


def relative(change: Tensor, x: Tensor, real: Tensor) -> float:
    """The mean over real tokens of ‖change‖ / ‖x‖."""
    share = change.norm(dim=-1) / x.norm(dim=-1)  # b t
    return float(share[real].mean())


def slope(values: Sequence[float]) -> float:
    """The change of a value per layer: the slope of the least-squares line through all layers."""
    n = len(values)
    middle, mean = (n - 1) / 2, sum(values) / n
    spread = sum((i - middle) ** 2 for i in range(n))
    return sum((i - middle) * (value - mean) for i, value in enumerate(values)) / spread


def halves(values: Sequence[float]) -> float:
    """The mean of the first half of the layers minus that of the last half."""
    half = len(values) // 2
    return sum(values[:half]) / half - sum(values[-half:]) / half
