"""T5's relative positions: a learned number for each head and each bucket of distances."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from glassformer.config.values import size
from glassformer.errors import ConfigError


def distances(t: int, s: int, device: torch.device) -> Int[Tensor, "t s"]:
    """Position of the key minus position of the query. The queries are the last t of s positions (see the cache)."""
    queries = torch.arange(s - t, s, device=device)  # t
    return torch.arange(s, device=device)[None, :] - queries[:, None]  # t s


def check_buckets(buckets: int, max_distance: int) -> None:
    """Each side has half of the buckets, half of them exact; the logarithmic ones need at least one distance."""
    size("position.max_distance", max_distance)
    if size("position.buckets", buckets) % 4 or max_distance <= buckets // 2:
        raise ConfigError("relative_buckets", buckets=buckets, max_distance=max_distance)


class RelativePositions(nn.Module):
    r"""Relative position bias (Raffel et al. 2020).

        score(t, s) = q_tᵀ k_s + B[head, bucket(s − t)]

    Near distances have a bucket each, far ones share buckets that widen logarithmically up to `max_distance`.
    One table serves all layers of a stack.
    Differs from the paper: it replaces the sum with the positional encoding.
    """

    acts_on = "scores"

    def __init__(self, *, n_heads: int, bidirectional: bool = True, buckets: int = 32, max_distance: int = 128) -> None:
        super().__init__()
        size("n_heads", n_heads)
        check_buckets(buckets, max_distance)
        self.bidirectional, self.max_distance = bidirectional, max_distance
        self.weight = nn.Parameter(torch.empty(buckets, n_heads).normal_(std=0.02))

    def bucket(self, distance: Int[Tensor, "t s"]) -> Int[Tensor, "t s"]:
        """Half of the buckets for the left, half for the right; half of each is exact, half logarithmic."""
        buckets = self.weight.shape[0]
        first = torch.zeros_like(distance)
        if self.bidirectional:
            buckets //= 2
            first = (distance > 0).long() * buckets
            distance = distance.abs()
        else:
            distance = (-distance).clamp(min=0)
        exact = buckets // 2
        ratio = distance.clamp(min=1).float().div(exact).log() / math.log(self.max_distance / exact)
        far = (exact + (ratio * (buckets - exact)).long()).clamp(max=buckets - 1)
        return first + torch.where(distance < exact, distance, far)

    def forward(self, t: int, s: int, like: Tensor) -> Float[Tensor, "h t s"]:
        return self.bias(distances(t, s, like.device), like)

    def bias(self, distance: Int[Tensor, "t s"], like: Tensor) -> Float[Tensor, "h t s"]:
        return self.weight[self.bucket(distance)].permute(2, 0, 1)  # h t s
