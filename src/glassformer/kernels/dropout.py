"""Dropout, §5.4; on a CPU with a mask that is drawn faster where it is large.

    plain form    F.dropout: a number of the generator for every entry, which takes longer than many a product
    this form     a number of 64 bits for four entries; the rate is rounded to a multiple of 2⁻¹⁶

Both keep the same mask for the backward pass.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from glassformer.kernels import in_the_open

LARGE = 1 << 16  # entries
LEVELS = 1 << 16


class Dropout(nn.Dropout):
    """nn.Dropout by `dropout`."""

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002, torch's name
        return dropout(input, self.p, self.training)


def dropout(x: Tensor, rate: float, training: bool) -> Tensor:
    r"""x · B / (1 − rate),   B ~ Bernoulli(1 − rate), one draw per entry; x outside of training."""
    level = round(rate * LEVELS)
    if not training or not in_the_open(x) or x.numel() < LARGE or not 0 < level < LEVELS:  # sizes last: no guards
        return F.dropout(x, rate, training)
    draws = torch.empty(-(-x.numel() // 4), dtype=torch.int64).random_(-(2**63), None).view(torch.int16)
    kept = torch.empty(x.shape, dtype=x.dtype)
    torch.ge(draws[: x.numel()].view(x.shape), level - LEVELS // 2, out=kept)
    return x * kept.mul_(LEVELS / (LEVELS - level))
