"""Which texts are short enough for short_texts.py. Asked for every text, while its kernels are loaded only for these:
they are operators of torch, and defining one loads torch's compiler, which takes seconds.
"""

from __future__ import annotations

from torch import Tensor

LONGEST = 64  # tokens
WIDEST = 64  # d_k and d_v


def are_short(q: Tensor, k: Tensor, v: Tensor) -> bool:
    """Whether these are short texts in 16 bits, whose heads lie in memory as a product left them."""
    return (
        q.dtype == k.dtype == v.dtype
        and q.dtype.itemsize == 2
        and q.shape[1] == k.shape[1]
        and max(q.shape[-1], v.shape[-1]) <= WIDEST
        and q.stride(-1) == k.stride(-1) == v.stride(-1) == 1
        and q.shape[-2] <= LONGEST
        and k.shape[-2] <= LONGEST
    )
