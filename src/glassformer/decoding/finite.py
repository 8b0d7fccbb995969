"""What a model computes is a number, or an error: NaN and infinity are no answer, whoever asks."""

from __future__ import annotations

import torch
from torch import Tensor

from glassformer.errors import InputError


def finite(x: Tensor) -> Tensor:
    """x itself, every number of which is finite."""
    wrong = x.numel() - int(x.isfinite().sum())
    if wrong:
        raise InputError("output_not_finite", count=f"{wrong:,}", total=f"{x.numel():,}", dtype=_name(x.dtype))
    return x


def comparable(logits: Tensor) -> Tensor:
    """Logits, b v, among which there is a largest one: some may be −∞, none NaN or ∞. One look at each row."""
    return logits if bool(logits.amax(1).isfinite().all()) else finite(logits)


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
