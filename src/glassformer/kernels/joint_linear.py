"""Several linear layers of one input as one product: W_Q x, W_K x, W_V x are [W_Q; W_K; W_V] x, cut into three.

    plain form    each layer by itself, as the paper writes it
    this form     one wide product, forward and backward; the parameters stay apart

One wide product is faster than three narrow ones, and its slope along x needs no additions. On a CPU it runs only where
the wide matrix is made once for many products.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from glassformer.kernels import runs_on
from glassformer.kernels.linear import joint_packed, packs


def joins(x: Tensor, *layers: nn.Module, often: bool) -> bool:
    """Whether `joint_linear` is faster; `often`: in steps so small that it would spend them on the wide matrix."""
    return packs(x, *layers) if x.device.type == "cpu" else runs_on(x) and not often


def joint_linear(x: Tensor, *layers: nn.Linear) -> tuple[Tensor, ...]:
    """The outputs of all layers for x."""
    if packs(x, *layers):
        return joint_packed(x, *layers)
    with_bias = {layer.bias is not None for layer in layers}
    if len(with_bias) > 1:
        return tuple(layer(x) for layer in layers)
    weight = torch.cat([layer.weight for layer in layers])
    bias = torch.cat([layer.bias for layer in layers]) if with_bias == {True} else None
    return F.linear(x, weight, bias).split([layer.out_features for layer in layers], -1)
