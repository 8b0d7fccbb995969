"""From a sequence to one vector: what a classifier or a regression head reads."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor

POOLS = ("cls", "sep", "mean", "max", "flatten", "each")


def pool(x: Float[Tensor, "b t d"], how: str, mask: Bool[Tensor, "b t"] | None = None) -> Float[Tensor, "b *t d"]:
    """One vector for a whole sequence; padding never takes part.

    cls: the first real position. sep: the last real one, where [SEP] is. mean, max: over the real positions.
    flatten: all positions concatenated, for inputs of a fixed length. each: nothing is pooled, every position
    stays by itself.
    """
    if how == "each":
        return x  # b t d
    if how == "flatten":
        return x.flatten(1)  # b t·d
    if mask is None:
        match how:
            case "cls":
                return x[:, 0]  # b d
            case "sep":
                return x[:, -1]  # b d
            case "mean":
                return x.mean(1)  # b d
        return x.amax(1)  # b d
    real = mask[..., None]  # b t 1
    if how == "mean":
        return (x * real).sum(1) / real.sum(1).clamp(min=1)  # b d
    if how == "max":
        largest = x.masked_fill(~real, torch.finfo(x.dtype).min).amax(1)  # b d
        return torch.where(real.any(1), largest, 0.0)  # b d
    at = torch.arange(x.shape[1], device=x.device)  # t
    first, last = mask.long().argmax(1), torch.where(mask, at, 0).amax(1)  # b, b
    return x[torch.arange(x.shape[0], device=x.device), first if how == "cls" else last]  # b d
