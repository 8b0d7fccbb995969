"""The k largest of many numbers: what every search does with a row of logits."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

GROUP = 32


def largest(x: Float[Tensor, "b v"], k: int) -> tuple[Float[Tensor, "b k"], Int[Tensor, "b k"]]:
    """The k largest of each row, in order, and where they stand.

    On a CPU a partial sort of the whole row takes longer than all else that is done with it. The k largest lie in the
    k groups with the largest maxima, and maxima are fast: so choose groups first, and sort what is in them.
    """
    groups = x.shape[1] // GROUP
    if x.device.type != "cpu" or groups <= 2 * k:
        best = x.topk(k)
        return best.values, best.indices
    whole = GROUP * groups
    chosen = x[:, :whole].unflatten(1, (GROUP, groups)).amax(1).topk(k, sorted=False).indices  # b k
    within = torch.arange(0, whole, groups)  # a group is every groups-th number
    at = (chosen[:, None, :] + within[:, None]).flatten(1)  # b GROUP·k
    rest = torch.arange(whole, x.shape[1]).expand(x.shape[0], -1)  # b <GROUP
    at = torch.cat([at, rest], 1)
    best = x.gather(1, at).topk(k)
    return best.values, at.gather(1, best.indices)
