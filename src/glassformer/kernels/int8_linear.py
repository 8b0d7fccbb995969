"""A product with a matrix of 8-bit numbers: a quarter of the memory, and on most CPUs less time.

    W ≈ diag(s) Q      Q: whole numbers from -127 to 127, n k; s: a factor for each of the n outputs

    plain form    (x Qᵀ) ⊙ s: Q becomes floating-point numbers for the moment of the product; x stays as it is
    this form     each row of x is rounded to 8 bits too, x ≈ diag(a) X, and (X Qᵀ) ⊙ (a sᵀ) is a product of
                  whole numbers, for which a CPU has instructions of its own

A row of the result depends on no other row of x, whatever the batch is.
"""

from __future__ import annotations

from functools import lru_cache

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int8
from torch import Tensor

LARGEST = 127  # of a rounded number; -128 is left out, so that every number has its negative
MIDDLE = 128  # the instructions take whole numbers from 0 to 255: these stand for -128 to 127
TINY = 1e-30  # of a row of zeros


def to_int8(w: Float[Tensor, "n k"]) -> tuple[Int8[Tensor, "n k"], Float[Tensor, " n"]]:
    """Q and s: s_i = max_j |w_ij| / 127, so that each row uses all of its 255 numbers."""
    w = w.detach().float()
    s = w.abs().amax(1).clamp_min_(TINY) / LARGEST  # n
    return (w / s[:, None]).round_().to(torch.int8), s


def int8_linear(
    x: Float[Tensor, "*rows k"], q: Int8[Tensor, "n k"], s: Float[Tensor, " n"], bias: Tensor | None = None
) -> Float[Tensor, "*rows n"]:
    """x Wᵀ + b, the plain form."""
    y = F.linear(x, q.to(x.dtype)) * s.to(x.dtype)  # *rows n
    return y if bias is None else y + bias


def pack_int8(q: Int8[Tensor, "n k"]) -> Tensor | None:
    """Q in the layout that `packed_linear` reads; None where the plain form has to do."""
    return torch.ops.onednn.qlinear_prepack(q.contiguous(), None) if q.device.type == "cpu" and exact() else None


def packed_linear(
    x: Float[Tensor, "*rows k"], q: Tensor, s: Float[Tensor, " n"], bias: Tensor | None = None
) -> Float[Tensor, "*rows n"]:
    """x Wᵀ + b with Q from `pack_int8`: the product itself in whole numbers."""
    rows = x.reshape(-1, x.shape[-1])  # m k
    if not rows.shape[0]:
        return x.new_zeros(*x.shape[:-1], s.shape[0])
    a = rows.abs().amax(1, keepdim=True).clamp_min_(TINY).div_(LARGEST)  # m 1
    y = _product((rows / a).round_().to(torch.int8), q, s).mul_(a)  # m n
    if bias is not None:
        y += bias
    return y.view(*x.shape[:-1], s.shape[0])


def _product(x: Int8[Tensor, "m k"], q: Tensor, s: Float[Tensor, " n"]) -> Float[Tensor, "m n"]:
    """(X Qᵀ) ⊙ s."""
    shifted = x.view(torch.uint8) ^ MIDDLE  # x + 128: the two's complement with its highest bit turned over
    none = torch.zeros(s.shape[0], dtype=torch.int32)  # Q is not shifted
    y: Tensor = torch.ops.onednn.qlinear_pointwise(
        shifted, 1.0, MIDDLE, q, s, none, None, 1.0, 0, torch.float32, "none", [], ""
    )
    return y


@lru_cache(maxsize=1)
def exact() -> bool:
    """Whether this machine multiplies 8-bit numbers without error: the largest numbers are tried.

    Older CPUs add two products of 8 bits in 16 and cut off what is more; others have no such instructions at all.
    """
    x, q = torch.full((1, 64), LARGEST, dtype=torch.int8), torch.full((16, 64), LARGEST, dtype=torch.int8)
    try:
        found = _product(x, torch.ops.onednn.qlinear_prepack(q, None), torch.ones(16))
    except (AttributeError, NotImplementedError, RuntimeError):  # another CPU, or a torch without them
        return False
    return bool((found == 64.0 * LARGEST**2).all())
