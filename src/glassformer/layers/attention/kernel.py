"""Scaled dot-product attention, Figure 2 left: the same equation twice, once to be read and once to be fast.

Both kernels have the same signature and the same result. The fast one picks a form for each case: PyTorch's, or one of
those in kernels/.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from glassformer.errors import InputError
from glassformer.kernels import in_the_open, runs_on
from glassformer.kernels.dropout import dropout as drop
from glassformer.kernels.linear import are_packed
from glassformer.kernels.short_attention import short_attention
from glassformer.layers.attention.mask import Mask
from glassformer.tap import Selection, is_watched, selection, tap, unobserved

FEW_QUERIES, FEW_SCORES = 8, 1024  # of one head


def reference(
    q: Tensor, k: Tensor, v: Tensor, mask: Mask, *, bias: Tensor | None, scale: float, dropout: float
) -> Tensor:
    r"""Scaled dot-product attention, §3.2.1, Eq. (1).

        Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V

    Dividing by √d_k keeps the variance of a score at 1 when q and k have unit variance.
    Differs from the paper: the mask is boolean, True = may look; a query that may look at nothing gets 0, not NaN.
    """
    k, v = share_heads(k, q.shape[1]), share_heads(v, q.shape[1])  # b h s d_k, b h s d_v
    weights = attention_weights(q, k, mask, bias=bias, scale=scale)  # b h t s
    return drop(weights, dropout, dropout > 0.0) @ v  # b h t d_v


def attention_weights(q: Tensor, k: Tensor, mask: Mask, *, bias: Tensor | None, scale: float) -> Tensor:
    """softmax(Q Kᵀ / √d_k): how much each query looks at each key. Rows sum to 1; a masked entry is exactly 0."""
    scores = tap("scores", (q * scale) @ k.transpose(-2, -1))  # b h t s; scale = 1/√d_k
    if bias is not None:
        scores = scores + bias
    allowed = mask.dense(q.shape[-2], k.shape[-2], q.device)
    if allowed is None:
        return tap("weights", scores.softmax(-1))  # b h t s
    blocked = ~allowed
    weights = torch.where(blocked, torch.finfo(scores.dtype).min, scores).softmax(-1)
    if not mask.is_plainly_causal:  # a row may be masked completely; under a look-ahead mask each query sees itself
        weights = weights.masked_fill(blocked, 0.0)
    return tap("weights", weights)  # b h t s


def fused(q: Tensor, k: Tensor, v: Tensor, mask: Mask, *, bias: Tensor | None, scale: float, dropout: float) -> Tensor:
    """The same equation in one of PyTorch's kernels, which never holds the t×s weights, or one of ours.

    Ours: for a few queries, and for short texts in training.

    If an observer asks for scores or weights, they are computed separately for it; the result stays the kernel's.
    """
    if is_watched("scores") or is_watched("weights"):
        _show_weights(q, k, mask, bias=bias, scale=scale)
    if mask.packing is not None and mask.is_plain and bias is None and q.is_cuda and q.dtype.itemsize == 2:
        return packed(q, k, v, mask, scale=scale, dropout=dropout)
    if not dropout and _has_few_scores(q, k):
        if are_packed(q, k, v) and mask.is_resolved(q.shape[-2]) and not mask.blocked_rows:
            return short_attention(q, k, v, bias, mask.added, scale=scale)
        with unobserved():  # what the observer asked for, it has seen
            return reference(q, k, v, mask, bias=bias, scale=scale, dropout=0.0)
    t, s = q.shape[-2], k.shape[-2]
    if not dropout and bias is None and _has_few_queries(q, k, v):
        from glassformer.kernels.few_queries import few_queries

        return few_queries(q, k, v, mask.dense(t, s, q.device), scale=scale)
    is_causal, allowed = False, None
    if mask.is_plainly_causal and bias is None and t == s:  # an `if`: when compiled, t == s is not a plain bool
        is_causal = True
    else:
        allowed = mask.dense(t, s, q.device)
    if bias is None and _has_short_texts(q, k, v):
        from glassformer.kernels.short_texts import short_texts

        return short_texts(q, k, v, allowed, causal=is_causal, scale=scale, dropout=dropout)
    attn_mask = allowed
    if bias is not None:
        attn_mask = bias if allowed is None else bias.masked_fill(~allowed, float("-inf"))
        attn_mask = attn_mask.to(q.dtype).expand(q.shape[0], -1, -1, -1)
    return F.scaled_dot_product_attention(
        q, k, v, attn_mask, dropout, is_causal, scale=scale, enable_gqa=k.shape[1] != q.shape[1]
    )  # b h t d_v


def _has_few_scores(q: Tensor, k: Tensor) -> bool:
    """Beams on a CPU: for a few queries and short texts PyTorch's kernel takes longer than the equation as written."""
    return (
        1 < q.shape[-2] <= FEW_QUERIES
        and q.shape[-2] * k.shape[-2] <= FEW_SCORES
        and in_the_open(q)
        and not torch.is_grad_enabled()
    )


def _has_few_queries(q: Tensor, k: Tensor, v: Tensor) -> bool:
    """A step of a search on an accelerator, for which there is a kernel of our own; autocast knows only PyTorch's."""
    if not runs_on(q) or torch.is_grad_enabled() or torch.compiler.is_compiling() or torch.is_autocast_enabled("cuda"):
        return False
    from glassformer.kernels.few_queries import suits

    return q.dtype == k.dtype == v.dtype and suits(q, v)


def _has_short_texts(q: Tensor, k: Tensor, v: Tensor) -> bool:
    """Training on short texts on an accelerator, for which there are kernels of our own."""
    if not runs_on(q) or not torch.is_grad_enabled():
        return False
    from glassformer.kernels.short_texts import are_short

    return are_short(q, k, v)


def packed(q: Tensor, k: Tensor, v: Tensor, mask: Mask, *, scale: float, dropout: float) -> Tensor:
    """Texts of any length in one row, each for itself: FlashAttention's kernel for them, which skips all else."""
    assert mask.packing is not None
    queries, keys = mask.packing
    rows = (x[0].transpose(0, 1) for x in (q, k, v))  # t h d
    mixed, *_ = torch.ops.aten._flash_attention_forward(
        *rows, queries.starts, keys.starts, queries.longest, keys.longest, dropout, mask.causal, False, scale=scale
    )
    return mixed.transpose(0, 1)[None]  # 1 h t d_v


def _show_weights(q: Tensor, k: Tensor, mask: Mask, *, bias: Tensor | None, scale: float) -> None:
    """Scores and weights for the observer, only of the heads and rows it asked for."""
    heads, rows = selection() or Selection()
    check_within("heads", heads, q.shape[1])
    check_within("rows", rows, q.shape[2])
    if heads is not None or rows is not None:
        allowed = mask.dense(q.shape[-2], k.shape[-2], q.device)
        if heads is not None:
            sharing = q.shape[1] // k.shape[1]  # heads of queries to a head of keys
            q, k, bias = q[:, heads], k[:, [n // sharing for n in heads]], None if bias is None else bias[heads]
            by_head = allowed is not None and allowed.dim() == 4 and allowed.shape[1] > 1
            allowed = allowed[:, heads] if allowed is not None and by_head else allowed
        if rows is not None:
            q, bias = q[:, :, rows], None if bias is None else bias[:, rows]
            allowed = allowed[..., rows, :] if allowed is not None and allowed.shape[-2] > 1 else allowed
        mask = Mask(allowed=allowed)
    with torch.no_grad():
        if bias is None and not is_watched("scores") and _has_kernel_for_weights(q, k):
            from glassformer.kernels.shown_weights import shown_weights

            causal = mask.is_plainly_causal
            allowed = None if causal else mask.dense(q.shape[-2], k.shape[-2], q.device)
            tap("weights", shown_weights(q, k, allowed, causal=causal, scale=scale))  # b h t s
        else:
            attention_weights(q, share_heads(k, q.shape[1]), mask, bias=bias, scale=scale)


def _has_kernel_for_weights(q: Tensor, k: Tensor) -> bool:
    """Weights without scores on an accelerator: the kernel writes them and nothing else."""
    if not runs_on(q):
        return False
    from glassformer.kernels.shown_weights import suits_showing

    return suits_showing(q, k)


def check_within(what: str, asked: Sequence[int] | None, size: int) -> None:
    """Raises if a head or row that was asked for does not exist."""
    for number in asked or ():
        if number >= size:
            raise InputError("no_such_selection", what=what, value=number, last=size - 1)


def share_heads(x: Tensor, n_heads: int) -> Tensor:
    """Grouped key-value heads (Ainslie et al. 2023): g heads of keys and values serve h heads of queries, h/g each.

    h = 4, g = 4 (multi-head)   g = 2 (grouped-query)   g = 1 (multi-query)
      q 0 1 2 3                   q 0 1 2 3                q 0 1 2 3
        │ │ │ │                     └┬┘ └┬┘                  └─┴┬┴─┘
      k 0 1 2 3                   k  0   1                 k    0
    """
    return x if x.shape[1] == n_heads else x.repeat_interleave(n_heads // x.shape[1], dim=1)  # b h s d


class Kernel(Protocol):
    """The signature that both kernels share. `scale` is 1/√d_k unless a model has its own (T5: 1)."""

    def __call__(
        self,
        q: Tensor,  # b h t d_k
        k: Tensor,  # b g s d_k
        v: Tensor,  # b g s d_v
        mask: Mask,
        *,
        bias: Tensor | None,  # h t s
        scale: float,
        dropout: float,
    ) -> Tensor: ...  # b h t d_v


KERNELS: dict[str, Kernel] = {
    "reference": reference,
    "fused": fused,
}
