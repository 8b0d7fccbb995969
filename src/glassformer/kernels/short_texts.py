"""Scaled dot-product attention, §3.2.1, Eq. (1), in training on short texts: all scores of a head at once.

(In a search on a CPU: short_attention.py.)

    plain form    layers/attention/kernel.reference: any length, any device, all weights at hand
    this form     at most 64 queries and keys in 16 bits on an accelerator; forward and backward one kernel each

PyTorch's kernels cut a text into blocks of 64 or 128 tokens, and keep what they need to put the blocks together again
in the backward pass. A text that fits into one block needs none of it: its weights are computed anew from q and k.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from glassformer.kernels import Launch

LONGEST = 64  # tokens
WIDEST = 64  # d_k and d_v
LOG2_E = tl.constexpr(math.log2(math.e))


@triton.jit
def _load(X, b, h, n, d, x_b, x_h, x_n, N: tl.constexpr, D: tl.constexpr):
    """One head of one text, n d; rows and columns beyond are 0."""
    row, column = tl.arange(0, N)[:, None], tl.arange(0, D)[None, :]
    return tl.load(X + b * x_b + h * x_h + row * x_n + column, mask=(row < n) & (column < d), other=0.0)


@triton.jit
def _store(X, x, b, h, heads, n, d, N: tl.constexpr, D: tl.constexpr):
    """Into memory that lies as b n h d, the order of the products before and after attention."""
    row, column = tl.arange(0, N)[:, None], tl.arange(0, D)[None, :]
    at = X + b * (n * heads * d) + row * (heads * d) + h * d + column
    tl.store(at, x.to(X.dtype.element_ty), mask=(row < n) & (column < d))


@triton.jit
def _weights(
    q, k, ALLOWED, SEED, b, h, heads, t, s, scale, p, a_b, a_h, a_t, a_s,
    CAUSAL: tl.constexpr, MASKED: tl.constexpr, DROPS: tl.constexpr, T: tl.constexpr, S: tl.constexpr,
):  # fmt: skip
    """softmax(Q Kᵀ scale), and by what each weight is multiplied then: 0 where it is dropped, else 1 / (1 − p)."""
    row, key = tl.arange(0, T)[:, None], tl.arange(0, S)[None, :]
    look = (row < t) & (key < s)
    if CAUSAL:
        look = look & (key <= row)
    if MASKED:
        look = tl.load(ALLOWED + b * a_b + h * a_h + row * a_t + key * a_s, mask=look, other=0) != 0
    z = tl.where(look, tl.dot(q, tl.trans(k)) * (scale * LOG2_E), float("-inf"))
    highest = tl.max(z, 1)
    e = tl.exp2(z - tl.where(highest == float("-inf"), 0.0, highest)[:, None])
    summed = tl.sum(e, 1)
    weights = e / tl.where(summed == 0.0, 1.0, summed)[:, None]  # nothing to look at: 0
    kept = tl.full((T, S), 1.0, tl.float32)
    if DROPS:
        drawn = tl.rand(tl.load(SEED), ((b * heads + h) * t + row) * s + key)
        kept = tl.where(drawn >= p, 1.0 / (1.0 - p), 0.0)
    return weights, kept


@triton.jit
def _forward_head(
    OUT, Q, K, V, ALLOWED, SEED, scale, p, heads, t, s, d_k, d_v,
    q_b, q_h, q_t, k_b, k_h, k_s, v_b, v_h, v_s, a_b, a_h, a_t, a_s,
    CAUSAL: tl.constexpr, MASKED: tl.constexpr, DROPS: tl.constexpr,
    T: tl.constexpr, S: tl.constexpr, D_K: tl.constexpr, D_V: tl.constexpr,
):  # fmt: skip
    """One head of one text: softmax(Q Kᵀ scale) V."""
    b, h = (tl.program_id(0) // heads).to(tl.int64), tl.program_id(0) % heads
    q = _load(Q, b, h, t, d_k, q_b, q_h, q_t, T, D_K)
    k = _load(K, b, h, s, d_k, k_b, k_h, k_s, S, D_K)
    v = _load(V, b, h, s, d_v, v_b, v_h, v_s, S, D_V)
    weights, kept = _weights(
        q, k, ALLOWED, SEED, b, h, heads, t, s, scale, p, a_b, a_h, a_t, a_s, CAUSAL, MASKED, DROPS, T, S
    )
    _store(OUT, tl.dot((weights * kept).to(v.dtype), v), b, h, heads, t, d_v, T, D_V)


@triton.jit
def _backward_head(
    D_QUERIES, D_KEYS, D_VALUES, D_OUT, g_b, g_h, g_t, Q, K, V, ALLOWED, SEED, scale, p, heads, t, s, d_k, d_v,
    q_b, q_h, q_t, k_b, k_h, k_s, v_b, v_h, v_s, a_b, a_h, a_t, a_s,
    CAUSAL: tl.constexpr, MASKED: tl.constexpr, DROPS: tl.constexpr,
    T: tl.constexpr, S: tl.constexpr, D_K: tl.constexpr, D_V: tl.constexpr,
):  # fmt: skip
    r"""One head of one text. With A the weights, M what they are multiplied by, and O = (A ⊙ M) V:

    ∂L/∂V = (A ⊙ M)ᵀ ∂L/∂O                           ∂L/∂A = (∂L/∂O Vᵀ) ⊙ M
    ∂L/∂Z = A ⊙ (∂L/∂A − Σ_j A_ij ∂L/∂A_ij)          ∂L/∂Q = scale · ∂L/∂Z K,   ∂L/∂K = scale · ∂L/∂Zᵀ Q
    """
    b, h = (tl.program_id(0) // heads).to(tl.int64), tl.program_id(0) % heads
    q = _load(Q, b, h, t, d_k, q_b, q_h, q_t, T, D_K)
    k = _load(K, b, h, s, d_k, k_b, k_h, k_s, S, D_K)
    v = _load(V, b, h, s, d_v, v_b, v_h, v_s, S, D_V)
    d_out = _load(D_OUT, b, h, t, d_v, g_b, g_h, g_t, T, D_V)
    weights, kept = _weights(
        q, k, ALLOWED, SEED, b, h, heads, t, s, scale, p, a_b, a_h, a_t, a_s, CAUSAL, MASKED, DROPS, T, S
    )
    _store(D_VALUES, tl.dot(tl.trans((weights * kept).to(v.dtype)), d_out), b, h, heads, s, d_v, S, D_V)
    d_weights = tl.dot(d_out, tl.trans(v)) * kept
    d_z = (weights * (d_weights - tl.sum(weights * d_weights, 1)[:, None]) * scale).to(q.dtype)
    _store(D_QUERIES, tl.dot(d_z, k), b, h, heads, t, d_k, T, D_K)
    _store(D_KEYS, tl.dot(tl.trans(d_z), q), b, h, heads, s, d_k, S, D_K)


def are_short(q: Tensor, k: Tensor, v: Tensor) -> bool:
    """Whether these are short texts in 16 bits, whose heads lie in memory as a product left them."""
    return (
        q.dtype == k.dtype == v.dtype
        and q.dtype.itemsize == 2
        and q.shape[:2] == k.shape[:2] == v.shape[:2]
        and max(q.shape[-1], v.shape[-1]) <= WIDEST
        and q.stride(-1) == k.stride(-1) == v.stride(-1) == 1
        and q.shape[-2] <= LONGEST
        and k.shape[-2] <= LONGEST
    )


def memory_for(q: Tensor, v: Tensor) -> Tensor:
    """For Attention(Q, K, V), as b t h d_v."""
    return q.new_empty(q.shape[0], q.shape[2], q.shape[1], v.shape[-1])


def memory_for_slopes(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """For ∂L/∂Q, ∂L/∂K and ∂L/∂V, each as b t h d."""
    return memory_for(q, q), memory_for(k, k), memory_for(v, v)


def attention(
    q: Tensor, k: Tensor, v: Tensor, allowed: Tensor | None, seed: Tensor | None, causal: bool, scale: float, p: float
) -> Tensor:
    """Attention(Q, K, V), b t h d_v."""
    out = memory_for(q, v)
    given, options = _of_both(q, k, v, allowed, seed, causal, scale, p)
    with torch.cuda.device_of(q):  # Triton starts a kernel on the device at hand
        _forward_head[(q.shape[0] * q.shape[1],)](out, *given, **options)
    return out


def slopes(
    d_out: Tensor, q: Tensor, k: Tensor, v: Tensor, allowed: Tensor | None, seed: Tensor | None,
    causal: bool, scale: float, p: float,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """∂L/∂Q, ∂L/∂K and ∂L/∂V, each as b t h d like `d_out`."""
    found, along = memory_for_slopes(q, k, v), d_out.contiguous()
    given, options = _of_both(q, k, v, allowed, seed, causal, scale, p)
    b_, t_, h_, _ = along.stride()
    with torch.cuda.device_of(q):
        _backward_head[(q.shape[0] * q.shape[1],)](*found, along, b_, h_, t_, *given, **options)
    return found


def _of_both(
    q: Tensor, k: Tensor, v: Tensor, allowed: Tensor | None, seed: Tensor | None, causal: bool, scale: float, p: float
) -> Launch:
    """What both kernels are given, and what they are compiled for: three sizes of each block, so that not every length
    of text has its own."""
    (_, h, t, d_k), (_, _, s, d_v) = q.shape, v.shape
    given = (
        q, k, v, q if allowed is None else allowed, q if seed is None else seed, scale, p, h, t, s, d_k, d_v,
        *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *((0,) * 4 if allowed is None else allowed.stride()),
    )  # fmt: skip
    blocks = {"T": _block(t), "S": _block(s), "D_K": _block(d_k), "D_V": _block(d_v)}
    rules = {"CAUSAL": causal, "MASKED": allowed is not None, "DROPS": seed is not None}
    return given, {**blocks, **rules, "num_warps": _warps(t, s)}


def _block(n: int) -> int:
    return 16 if n <= 16 else 32 if n <= 32 else 64


def _warps(t: int, s: int) -> int:
    """So many that all numbers of a head stay in registers."""
    return 2 if max(t, s) <= 32 else 4


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, q: Tensor, k: Tensor, v: Tensor, allowed: Tensor | None, seed: Tensor | None,
        causal: bool, scale: float, p: float,
    ) -> Tensor:  # fmt: skip
        ctx.save_for_backward(q, k, v, allowed, seed)
        ctx.options = causal, scale, p
        compute = torch.ops.glassformer.short_texts if torch.compiler.is_compiling() else attention
        found: Tensor = compute(q, k, v, allowed, seed, causal, scale, p)
        return found

    @staticmethod
    def backward(ctx: Any, *given: Tensor) -> tuple[Tensor | None, ...]:
        compute = torch.ops.glassformer.short_texts_backward if torch.compiler.is_compiling() else slopes
        found = compute(given[0], *ctx.saved_tensors, *ctx.options)
        return *(x.transpose(1, 2) for x in found), None, None, None, None, None


def short_texts(
    q: Tensor, k: Tensor, v: Tensor, allowed: Tensor | None, *, causal: bool, scale: float, dropout: float
) -> Tensor:
    """Attention(Q, K, V), b h t d_v; `allowed`, True = may look, broadcasts to b h t s. None: everything.

    Which weights are dropped is drawn in the kernel, from a seed that torch's generator gives.
    """
    if torch.compiler.is_compiling():
        import glassformer.kernels.short_texts_operator  # noqa: F401
    (b, h, t, _), s = q.shape, k.shape[2]
    look = None if allowed is None else allowed.expand(b, h, t, s).view(torch.uint8)
    seed = torch.randint(2**31 - 1, (1,), device=q.device) if dropout else None
    out: Tensor = _Attention.apply(q, k, v, look, seed, causal, scale, dropout)
    return out.transpose(1, 2)  # b h t d_v
