"""Rows of a table of positions, for the two kinds that have one: sinusoidal and learned."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from glassformer.errors import InputError


def look_up(
    table: Float[Tensor, "max_len d_model"], x: Float[Tensor, "b t d_model"], at: Int[Tensor, "*b t"] | None
) -> Float[Tensor, "*b t d_model"]:
    """The encodings of the positions `at` (0 … t-1 when not given). A text longer than the table is refused."""
    t, max_len = x.shape[-2], table.shape[0]
    if t > max_len:
        raise InputError("too_long", length=t, max_len=max_len)
    if at is None:
        return table[:t]  # t d_model
    if at.device.type == "cpu" and not torch.compiler.is_compiling() and at.numel() and int(at.max()) >= max_len:
        raise InputError("too_long", length=int(at.max()) + 1, max_len=max_len)
    return table[at]  # *b t d_model
