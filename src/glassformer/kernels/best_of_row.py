"""The largest log-probabilities of each row, as beam search needs them at every step.

    plain form    decoding/next_words: log_softmax of all words in float32, then topk
    this form     an accelerator; each logit is read once, and only the best are written

The best words of a vocabulary are among the best of its parts. A program reads one part of a row; a second kernel, for
which little is left, joins the parts.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

PART = 4096  # logits of one program
EMPTY = tl.constexpr(-(2**63))  # smaller than the key of any number


class BestOfRow(NamedTuple):
    """Of each row the m largest z − log Σ_k exp z_k, n m, the largest first and of equal ones the first; log Σ_k, n."""

    values: Tensor  # float32
    positions: Tensor
    log_sums: Tensor  # float32; of a row with NaN or ∞, NaN


@triton.jit
def _best_of_part(
    Z, NEVER, KEYS, HIGHEST, SUMMED, v, stride, m, parts,
    FORBIDS: tl.constexpr, PART: tl.constexpr,
):  # fmt: skip
    r"""One part of a row z: max z, Σ_k exp(z_k − max z), and the keys of its m largest numbers.

    A key is a number and its position in 64 bits, in an order in which the larger number is the larger key, and of
    equal numbers the first. Forbidden words count in the sum, but rank as −∞.
    """
    row, part = tl.program_id(0).to(tl.int64), tl.program_id(1)
    at = part * PART + tl.arange(0, PART)
    inside = at < v
    z = tl.load(Z + row * stride + at, mask=inside, other=float("-inf")).to(tl.float32)
    highest = tl.max(z, 0)
    origin = tl.where(highest == float("-inf"), 0.0, highest)
    tl.store(HIGHEST + row * parts + part, highest)
    tl.store(SUMMED + row * parts + part, tl.sum(tl.exp(z - origin), 0))
    if FORBIDS:
        z = tl.where(tl.load(NEVER + at, mask=inside, other=0) != 0, float("-inf"), z)
    bits = tl.where(z == 0.0, 0.0, z).to(tl.int32, bitcast=True)  # -0 is 0
    ordered = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
    keys = tl.where(inside, (ordered.to(tl.int64) << 32) | (0x7FFFFFFF - at).to(tl.int64), EMPTY)
    for i in range(m):
        best = tl.max(keys, 0)
        tl.store(KEYS + (row * parts + part) * m + i, best)
        keys = tl.where(keys == best, EMPTY, keys)


@triton.jit
def _join(KEYS, HIGHEST, SUMMED, VALUES, POSITIONS, LOG_SUMS, m, parts, PARTS: tl.constexpr, WIDTH: tl.constexpr):
    r"""One row: L = log Σ_p summed_p · exp(highest_p); of the m largest keys of all parts, taken apart again, z − L."""
    row = tl.program_id(0).to(tl.int64)
    part, at = tl.arange(0, PARTS), tl.arange(0, WIDTH)
    high = tl.load(HIGHEST + row * parts + part, mask=part < parts, other=float("-inf"))
    summed = tl.load(SUMMED + row * parts + part, mask=part < parts, other=0.0)
    highest = tl.max(high, 0)
    origin = tl.where(highest == float("-inf"), 0.0, highest)
    log_sum = highest + tl.log(tl.sum(summed * tl.exp(high - origin), 0))
    tl.store(LOG_SUMS + row, log_sum)
    keys = tl.load(KEYS + row * parts * m + at, mask=at < parts * m, other=EMPTY)
    for i in range(m):
        best = tl.max(keys, 0)
        ordered = (best >> 32).to(tl.int32)
        bits = tl.where(ordered < 0, ordered ^ 0x7FFFFFFF, ordered)
        tl.store(VALUES + row * m + i, bits.to(tl.float32, bitcast=True) - log_sum)
        tl.store(POSITIONS + row * m + i, 0x7FFFFFFF - (best & 0x7FFFFFFF))
        keys = tl.where(keys == best, EMPTY, keys)


def best_of_row(logits: Tensor, m: int, never: Tensor | None = None) -> BestOfRow:
    """Of logits, n v, with m ≤ v; `never`, v, is True for words that rank as −∞ but count in the sums."""
    n, v = logits.shape
    logits = logits if logits.stride(1) == 1 else logits.contiguous()
    part = max(16, min(PART, triton.next_power_of_2(v)))
    parts, device = triton.cdiv(v, part), logits.device
    keys = torch.empty(n, parts * m, dtype=torch.long, device=device)
    highest, summed = torch.empty(2, n, parts, dtype=torch.float32, device=device)
    values = torch.empty(n, m, dtype=torch.float32, device=device)
    positions = torch.empty(n, m, dtype=torch.long, device=device)
    log_sums = torch.empty(n, dtype=torch.float32, device=device)
    with torch.cuda.device_of(logits):  # Triton starts a kernel on the device at hand
        _best_of_part[(n, parts)](
            logits, logits if never is None else never.view(torch.uint8), keys, highest, summed,
            v, logits.stride(0), m, parts,
            FORBIDS=never is not None, PART=part, num_warps=max(1, min(8, part // 512)),
        )  # fmt: skip
        _join[(n,)](
            keys, highest, summed, values, positions, log_sums, m, parts,
            PARTS=triton.next_power_of_2(parts), WIDTH=triton.next_power_of_2(parts * m),
            num_warps=max(1, min(8, parts * m // 256)),
        )  # fmt: skip
    return BestOfRow(values, positions, log_sums)
