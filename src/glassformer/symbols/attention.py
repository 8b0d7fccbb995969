"""The fused kernel: one torch function for all of Eq. (1), with the two products that it hides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from glassformer.symbols.cast import narrowed
from glassformer.symbols.tensor import Symbolic

if TYPE_CHECKING:
    from glassformer.symbols.run import SymbolicRun


def scaled_dot_product_attention(
    run: SymbolicRun,
    q: Symbolic,
    k: Symbolic,
    v: Symbolic,
    attn_mask: Symbolic | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Symbolic:
    """Eq. (1) in one call. On the CPU, torch has no fused kernel for dropout, d_v ≠ d_k or a trained bias."""
    q, k, v = (narrowed(run, x) for x in (q, k, v))
    trained_bias = attn_mask is not None and attn_mask.trained
    b, n_heads, t, d_k = q.shape
    s, d_v = k.shape[2], v.shape[3]
    if run.accelerator or not (dropout_p or trained_bias or d_k != d_v):
        result = _flash(run, q, k, v, attn_mask)
    else:
        result = _fallback(run, q, k, v, dropout_p)
    run.product(b, n_heads, t, s, d_k, gradients=2, name="scores")
    run.product(b, n_heads, t, s, d_v, gradients=2, name="heads")
    return result


def _flash(run: SymbolicRun, q: Symbolic, k: Symbolic, v: Symbolic, attn_mask: Symbolic | None) -> Symbolic:
    """Keeps q, k, v and the heads, and one number for each row of the scores: its log-sum-exp.

    A boolean mask is kept as numbers, 0 or −∞. The heads have the memory order of q.
    """
    for x, name in ((q, "q"), (k, "k"), (v, "v")):
        run.keep_origins(x, name)
    if attn_mask is not None:
        is_truth = attn_mask.dtype == torch.bool
        run.keep(run.new(attn_mask.shape, q.dtype) if is_truth else attn_mask, "mask" if is_truth else "bias")
    run.keep(run.new(q.shape[:3], width=max(q.dtype.itemsize, 4)), "logsumexp")  # in at least float32
    heads = run.new((*q.shape[:3], v.shape[3]), q.dtype, trained=True, order=q.order)
    run.keep(heads, "heads")
    return heads


def _fallback(run: SymbolicRun, q: Symbolic, k: Symbolic, v: Symbolic, dropout: float) -> Symbolic:
    """torch's own three lines, in at least float32: q and k are scaled copies, k and v repeated for every head."""
    (b, n_heads, t, d_k), s, d_v = q.shape, k.shape[2], v.shape[3]
    wide = torch.float32 if q.dtype.itemsize < 4 else q.dtype
    weights = run.new((b, n_heads, t, s), wide)
    run.keep(run.new((b, n_heads, t, d_k), wide), "q")
    run.keep(run.new((b, n_heads, s, d_k), wide), "k")
    run.keep(weights, "softmax")
    if dropout:
        run.keep(run.new(weights.shape, wide), "dropout.mask")
        weights = run.new(weights.shape, wide)
    run.keep(weights, "weights")
    run.keep(run.new((b, n_heads, s, d_v), wide), "v")
    return run.new((b, n_heads, t, d_v), q.dtype, trained=True)
