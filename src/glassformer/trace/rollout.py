"""Attention roll-out: how much of every patch reaches the answer through all layers together."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor

from glassformer.errors import InputError
from glassformer.trace.trace import Trace


def mixed(maps: list[Float[Tensor, "b h t t"]]) -> Float[Tensor, "b t t"]:
    r"""Attention roll-out (Abnar & Zuidema 2020).

        R = Π_l (½ Ā_l + ½ I),     Ā_l: the weights of layer l, averaged over its heads; the last layer is leftmost

    R[t, s] is how much of position s is in position t at the end. The ½ I is the residual connection. Values, norms
    and feed-forward networks are left out: it shows where information comes from, not what it is.
    """
    identity = torch.eye(maps[0].shape[-1], dtype=maps[0].dtype, device=maps[0].device)  # t t
    flow = identity.expand(maps[0].shape[0], -1, -1)  # b t t
    for weights in maps:
        flow = (weights.mean(1) + identity) / 2 @ flow  # b t t
    return flow


def rollout(trace: Trace, *, class_tokens: int = 1, pool: str = "cls") -> Float[Tensor, "b rows columns"]:
    """One map of patches for each image of a recorded pass: what the pooled vector is made of.

    With pool="cls" it is the row of the class token, else the mean of all rows. The columns of class tokens are left
    out, so a map sums to at most 1.
    """
    maps = trace.attention()
    if not maps:
        raise InputError("rollout_nothing")
    flow = mixed(maps)  # b t t
    seen = (flow[:, 0] if pool == "cls" else flow.mean(1))[:, class_tokens:]  # b patches
    side = math.isqrt(seen.shape[1])
    if side * side != seen.shape[1]:
        raise InputError("rollout_grid", patches=seen.shape[1], class_tokens=class_tokens)
    return seen.unflatten(1, (side, side))  # b rows columns
