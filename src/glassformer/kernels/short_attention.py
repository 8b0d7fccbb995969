"""Attention of a few queries on a CPU, as in a step of a search: the equation with as few passes as it has.

    plain form    the reference kernel: a mask of booleans, new tensors for every step of the equation
    this form     the mask as a number to add, made once for all layers; everything after the scores in their place

The numbers are the same; only where there are fewer than 16 keys the order of a sum differs.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

WIDTH = 16  # numbers that a processor adds at once; torch's softmax of fewer is several times slower


def short_attention(
    q: Float[Tensor, "b h t d_k"],
    k: Float[Tensor, "b g s d_k"],
    v: Float[Tensor, "b g s d_v"],
    *biases: Tensor | None,
    scale: float,
) -> Float[Tensor, "b h t d_v"]:
    """softmax(Q Kᵀ scale + biases) V; no row of the biases may be −∞ throughout. g heads of k and v serve h."""
    b, h, t, d = q.shape
    g, s = k.shape[1], k.shape[2]
    scaled = torch.mul(q, scale, out=q.new_empty(b, h, t, d)).view(b * g, -1, d)  # b·g h/g·t d_k
    scores = torch.bmm(scaled, k.flatten(0, 1).transpose(1, 2)).view(b, h, t, s)
    for bias in biases:
        if bias is not None:
            scores += bias
    if s < WIDTH:
        scores = F.pad(scores, (0, WIDTH - s), value=float("-inf"))
    weights = torch.softmax(scores, -1, out=scores).view(b * g, -1, scores.shape[-1])[..., :s]  # b·g h/g·t s
    return torch.bmm(weights, v.flatten(0, 1)).view(b, h, t, -1)
