"""The weights of an attention for an observer, §3.2.1, Eq. (1): softmax(Q Kᵀ / √d_k), without the product with V.

    plain form    layers/attention/kernel.attention_weights: any device, scores at hand, with a bias too
    this form     an accelerator; scores of one block of keys at a time, and only the weights are written

PyTorch's fused kernels hold no weights, so an observer's are computed apart. The equation as written goes over b h t s
five times. Here the scores are computed twice, which is cheap, and only the weights go to memory, once.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

ROWS, BLOCK = 64, 128  # queries and keys of a program at a time
NUMBERS = 64 * 128  # of 16 bits that either of them has at most
WIDEST = 256  # d_k: more do not fit into the registers
EXACT = "ieee" if torch.version.hip else "tf32x3"  # products of float32: on tensor cores, in three parts


@triton.jit
def _scores(
    q, k_at, allowed_at, row, at, last, scale, t, s, d_k, k_s, a_s, at_k,
    CAUSAL: tl.constexpr, MASKED: tl.constexpr, EXACT: tl.constexpr,
):  # fmt: skip
    """z_ij = q_i · k_j · scale for a block of keys; −∞ where query i may not look."""
    k = tl.load(k_at + at[:, None] * k_s, mask=(at < s)[:, None] & (at_k < d_k)[None, :], other=0.0)
    look = (row < t)[:, None] & (at < s)[None, :]
    if CAUSAL:
        look = look & (at[None, :] <= (row + last)[:, None])
    if MASKED:
        look = tl.load(allowed_at + at[None, :] * a_s, mask=look, other=0) != 0
    return tl.where(look, tl.dot(q, tl.trans(k), input_precision=EXACT) * scale, float("-inf"))


@triton.jit
def _weigh(
    Q, K, ALLOWED, OUT, scale, heads, sharing, t, s, d_k,
    q_b, q_h, q_t, q_d, k_b, k_h, k_s, k_d, a_b, a_h, a_t, a_s,
    CAUSAL: tl.constexpr, MASKED: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, D_K: tl.constexpr,
    EXACT: tl.constexpr,
):  # fmt: skip
    r"""Some queries i of one head.

    w_ij = exp(z_ij − m_i) / Σ_j exp(z_ij − m_i),   m_i = max_j z_ij

    First m_i and the sum, where m_i is the largest so far: when a block of keys raises it, the sum shrinks by
    exp(m_i before − m_i). Then the weights. Under a look-ahead mask query i is position i + last of s.
    """
    b, head = (tl.program_id(0) // heads).to(tl.int64), tl.program_id(0) % heads
    first, last = tl.program_id(1) * ROWS, s - t
    row = first + tl.arange(0, ROWS)
    at_k, keys = tl.arange(0, D_K), tl.arange(0, BLOCK).to(tl.int64)
    q_at = Q + b * q_b + head * q_h + row[:, None].to(tl.int64) * q_t + at_k[None, :] * q_d
    q = tl.load(q_at, mask=(row < t)[:, None] & (at_k < d_k)[None, :], other=0.0)
    k_at = K + b * k_b + (head // sharing) * k_h + at_k[None, :] * k_d
    allowed_at = ALLOWED + b * a_b + head * a_h + row[:, None].to(tl.int64) * a_t
    out_at = OUT + (tl.program_id(0).to(tl.int64) * t + row[:, None]) * s
    end = s
    if CAUSAL:
        end = tl.maximum(tl.minimum(s, first + ROWS + last), 0)
    highest, summed = tl.full((ROWS,), float("-inf"), tl.float32), tl.zeros((ROWS,), tl.float32)
    for start in range(0, end, BLOCK):
        z = _scores(
            q, k_at, allowed_at, row, start + keys, last, scale, t, s, d_k, k_s, a_s, at_k, CAUSAL, MASKED, EXACT
        )
        higher = tl.maximum(highest, tl.max(z, 1))
        origin = tl.where(higher == float("-inf"), 0.0, higher)  # a query that has seen nothing yet
        summed = summed * tl.exp(highest - origin) + tl.sum(tl.exp(z - origin[:, None]), 1)
        highest = higher
    origin = tl.where(highest == float("-inf"), 0.0, highest)
    share = 1.0 / tl.where(summed == 0.0, 1.0, summed)  # nothing to look at: 0
    for start in range(0, end, BLOCK):
        at = start + keys
        z = _scores(q, k_at, allowed_at, row, at, last, scale, t, s, d_k, k_s, a_s, at_k, CAUSAL, MASKED, EXACT)
        weights = tl.exp(z - origin[:, None]) * share[:, None]
        tl.store(out_at + at[None, :], weights.to(OUT.dtype.element_ty), mask=(row < t)[:, None] & (at < s)[None, :])
    for start in range(tl.cdiv(end, BLOCK) * BLOCK, s, BLOCK):  # what comes after all of these queries
        at = start + keys
        nothing = tl.zeros((ROWS, BLOCK), OUT.dtype.element_ty)
        tl.store(out_at + at[None, :], nothing, mask=(row < t)[:, None] & (at < s)[None, :])


def suits_showing(q: Tensor, k: Tensor) -> bool:
    """Whether this kernel computes what the plain form does: autocast would choose the types of the result itself."""
    alike = q.dtype == k.dtype and q.shape[0] == k.shape[0]
    return alike and q.shape[-1] <= WIDEST and not torch.is_autocast_enabled("cuda")


def shown_weights(q: Tensor, k: Tensor, allowed: Tensor | None, *, causal: bool, scale: float) -> Tensor:
    """softmax(Q Kᵀ · scale), b h t s, in the type of q; g heads of keys serve h heads of queries, h/g each.

    `causal`: each of the queries, which are the last t of s positions, looks back. Or `allowed`, True = may look, which
    broadcasts to b h t s. None: everything. A query that may look at nothing gets 0.
    """
    (b, h, t, d_k), (_, g, s, _) = q.shape, k.shape
    out = q.new_empty(b, h, t, s)
    if not out.numel():
        return out
    look = None if allowed is None else allowed.expand(b, h, t, s).view(torch.uint8)
    width = max(16, triton.next_power_of_2(d_k))
    most = NUMBERS * 2 // q.element_size() // width
    rows, block = (max(16, min(each, most, triton.next_power_of_2(n))) for each, n in ((ROWS, t), (BLOCK, s)))
    with torch.cuda.device_of(q):  # Triton starts a kernel on the device at hand
        _weigh[(b * h, triton.cdiv(t, rows))](
            q, k, q if look is None else look, out, scale, h, h // g, t, s, d_k,
            *q.stride(), *k.stride(), *((0,) * 4 if look is None else look.stride()),
            CAUSAL=causal, MASKED=look is not None, ROWS=rows, BLOCK=block, D_K=width, EXACT=EXACT,
            num_warps=4, num_stages=2,
        )  # fmt: skip
    return out
