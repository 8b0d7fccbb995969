"""ALiBi: the further away a key is, the more is subtracted from its score."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from glassformer.config.values import size
from glassformer.layers.position.relative import distances


def slopes(n_heads: int) -> list[float]:
    """One slope per head, 2^(−8/n), 2^(−16/n) …; if n is not a power of two, the rest are slopes of the next power."""
    power = 1 << (n_heads.bit_length() - 1)  # the largest power of two up to n_heads
    first = [2.0 ** (-8.0 * (head + 1) / power) for head in range(power)]
    between = [2.0 ** (-4.0 * (head + 1) / power) for head in range(0, 2 * power, 2)]
    return first + between[: n_heads - power]


class AlibiPositions(nn.Module):
    r"""Attention with linear biases (Press et al. 2022).

        score(t, s) = q_tᵀ k_s / √d_k − m_h · |t − s|

    Heads with a steep slope m_h see only near keys, heads with a flat one see far. Nothing is trained.
    Differs from the paper: it replaces the sum with the positional encoding.
    """

    acts_on = "scores"

    def __init__(self, *, n_heads: int) -> None:
        super().__init__()
        self.n_heads, self.slopes = n_heads, slopes(size("n_heads", n_heads))

    def forward(self, t: int, s: int, like: Tensor) -> Float[Tensor, "h t s"]:
        return self.bias(distances(t, s, like.device), like)

    def bias(self, distance: Int[Tensor, "t s"], like: Tensor) -> Float[Tensor, "h t s"]:
        m = self._slopes(like).view(self.n_heads, 1, 1)  # h 1 1
        return -m * distance.abs().to(like.dtype)  # h t s

    def _slopes(self, like: Tensor) -> Float[Tensor, " h"]:
        """On an accelerator one by one: a copy from the host would make a training step wait."""
        if like.device.type == "cuda" and not torch.compiler.is_compiling():
            return torch.stack([torch.full((), m, device=like.device, dtype=like.dtype) for m in self.slopes])
        return torch.tensor(self.slopes, device=like.device, dtype=like.dtype)
