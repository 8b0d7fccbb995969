"""Scaled dot-product attention, §3.2.1, Eq. (1), for a few queries and without gradients: the step of a search.

    plain form    layers/attention/kernel.reference: any number of queries, any device, all weights at hand
    this form     at most 16 queries of a text, an accelerator; weights of one block of keys at a time

A search asks a few queries, one for each beam, against all keys so far. PyTorch's kernels are made for many queries and
read every slot. This one reads only keys that some query may look at, so empty slots and beams given up cost nothing.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

MOST = 16  # queries of a text: more are work for PyTorch's kernels
ROWS = 16  # queries of one program, of all heads that share its keys: the least that a product on tensor cores has
BLOCK = 32  # keys of a program at a time: with more of them fewer programs fit on a processor
NUMBERS = 64 * 128  # of 16 bits that these keys have at most; so many values must find room beside them
WIDEST = 256  # d_k and d_v: more do not fit into the registers
ENOUGH = 256  # programs keep any accelerator busy: about two for each processor of the largest
ALONE = 1024  # keys that a program reads one block after the other faster than PyTorch's kernel starts
EXACT = "ieee" if torch.version.hip else "tf32x3"  # products of float32: on tensor cores, in three parts


@triton.jit
def _attend(
    Q, K, V, ALLOWED, OUT, scale, groups, rows, t, s, d_k, d_v,
    q_b, q_h, q_t, q_d, k_b, k_h, k_s, k_d, v_b, v_h, v_s, v_d, a_b, a_h, a_t, a_s, o_b, o_h, o_t,
    MASKED: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, D_K: tl.constexpr, D_V: tl.constexpr,
    EXACT: tl.constexpr,
):  # fmt: skip
    r"""Some queries q_i of one text that share a head of keys: row r is query r mod t of the group's head r div t.

    z_ij = q_i · k_j · scale       out_i = Σ_j exp(z_ij − m_i) v_j / Σ_j exp(z_ij − m_i),   m_i = max_j z_ij

    m_i is the largest so far: when a block of keys raises it, both sums shrink by exp(m_i before − m_i).
    """
    b, group = (tl.program_id(0) // groups).to(tl.int64), tl.program_id(0) % groups
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    real = row < rows
    head, query = group * (rows // t) + row // t, row % t
    at_k, at_v, keys = tl.arange(0, D_K), tl.arange(0, D_V), tl.arange(0, BLOCK)
    q_at = Q + b * q_b + head[:, None] * q_h + query[:, None] * q_t + at_k[None, :] * q_d
    q = tl.load(q_at, mask=real[:, None] & (at_k < d_k)[None, :], other=0.0)
    highest, summed = tl.full((ROWS,), float("-inf"), tl.float32), tl.zeros((ROWS,), tl.float32)
    mixed = tl.zeros((ROWS, D_V), tl.float32)
    for start in range(0, s, BLOCK):
        at = start + keys
        look = real[:, None] & (at < s)[None, :]
        if MASKED:
            a_at = ALLOWED + b * a_b + head[:, None] * a_h + query[:, None] * a_t + at[None, :] * a_s
            look = tl.load(a_at, mask=look, other=0) != 0
        wanted = tl.max(look.to(tl.int32), 0)
        if tl.max(wanted, 0) > 0:
            needed = (wanted > 0)[:, None]
            where = at[:, None].to(tl.int64)
            k_at = K + b * k_b + group * k_h + where * k_s + at_k[None, :] * k_d
            v_at = V + b * v_b + group * v_h + where * v_s + at_v[None, :] * v_d
            k = tl.load(k_at, mask=needed & (at_k < d_k)[None, :], other=0.0)
            v = tl.load(v_at, mask=needed & (at_v < d_v)[None, :], other=0.0)
            z = tl.where(look, tl.dot(q, tl.trans(k), input_precision=EXACT) * scale, float("-inf"))
            higher = tl.maximum(highest, tl.max(z, 1))
            origin = tl.where(higher == float("-inf"), 0.0, higher)  # a query that has seen nothing yet
            weights, shrunk = tl.exp(z - origin[:, None]), tl.exp(highest - origin)
            summed = summed * shrunk + tl.sum(weights, 1)
            mixed = mixed * shrunk[:, None] + tl.dot(weights.to(v.dtype), v, input_precision=EXACT)
            highest = higher
    out = mixed / tl.where(summed == 0.0, 1.0, summed)[:, None]  # nothing to look at: 0
    o_at = OUT + b * o_b + head[:, None] * o_h + query[:, None] * o_t + at_v[None, :]
    tl.store(o_at, out.to(OUT.dtype.element_ty), mask=real[:, None] & (at_v < d_v)[None, :])


def suits(q: Tensor, v: Tensor) -> bool:
    """Whether this kernel is the faster one: few queries, and programs that share the work or little of it."""
    (_, _, t, d_k), (b, g, s, d_v) = q.shape, v.shape
    return t <= MOST and max(d_k, d_v) <= WIDEST and (s <= ALONE or b * g >= ENOUGH)


def few_queries(q: Tensor, k: Tensor, v: Tensor, allowed: Tensor | None, *, scale: float) -> Tensor:
    """Attention(Q, K, V), b h t d_v; `allowed`, True = may look, broadcasts to b h t s. None: everything.

    The result lies in memory as b t h d_v, the order in which the heads are joined.
    """
    (b, h, t, d_k), (_, g, s, d_v) = q.shape, v.shape
    out = q.new_empty(b, t, h, d_v).transpose(1, 2)  # b h t d_v
    if not out.numel():
        return out
    look = None if allowed is None else allowed.expand(b, h, t, s).view(torch.uint8)
    width_k, width_v = (max(16, triton.next_power_of_2(d)) for d in (d_k, d_v))
    width = max(width_k, width_v)
    block = max(16, min(BLOCK, NUMBERS * 2 // q.element_size() // width, triton.next_power_of_2(s)))
    warps, rows = max(1, block // 16, width // 64), h // g * t
    with torch.cuda.device_of(q):  # Triton starts a kernel on the device at hand
        _attend[(b * g, triton.cdiv(rows, ROWS))](
            q, k, v, q if look is None else look, out, scale, g, rows, t, s, d_k, d_v,
            *q.stride(), *k.stride(), *v.stride(), *((0,) * 4 if look is None else look.stride()), *out.stride()[:3],
            MASKED=look is not None, ROWS=ROWS, BLOCK=block, D_K=width_k, D_V=width_v, EXACT=EXACT,
            num_warps=warps, num_stages=1,
        )  # fmt: skip
    return out
