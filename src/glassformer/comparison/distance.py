"""How far two streams of vectors lie apart: one number for all rows together, and one for each row."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

TINY = torch.finfo(torch.float64).tiny


@dataclass(frozen=True)
class Distance:
    """Two tensors with the same rows.

        relative = ‖A − B‖ / max(‖A‖, ‖B‖)        cosine = ⟨A, B⟩ / (‖A‖ ‖B‖)

    Both over all rows together; `by_row` has the relative distance of each. The same tensor twice: 0 and 1; the same
    directions in other lengths: cosine 1. None: undefined, since a tensor is 0 everywhere or not finite.
    """

    relative: float | None
    cosine: float | None
    by_row: tuple[float | None, ...]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def distance(a: Float[Tensor, "t d"], b: Float[Tensor, "t d"]) -> Distance:
    """In float64: the difference of two nearly equal vectors keeps few digits."""
    one, other = a.detach().cpu().double(), b.detach().cpu().double()
    lengths = one.norm() * other.norm()
    cosine = ((one * other).sum() / lengths).clamp(-1, 1)  # 0 / 0 is NaN
    by_row = _relative(one, other)  # t
    whole = _relative(one.reshape(1, -1), other.reshape(1, -1))  # 1
    return Distance(
        finite_or_none(whole.item()), finite_or_none(cosine.item()), tuple(map(finite_or_none, by_row.tolist()))
    )


def finite_or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _relative(a: Tensor, b: Tensor) -> Tensor:
    """t d, t d → t; two rows of zeros are the same."""
    size = a.norm(dim=-1).maximum(b.norm(dim=-1))
    return (a - b).norm(dim=-1) / size.clamp(min=TINY)
