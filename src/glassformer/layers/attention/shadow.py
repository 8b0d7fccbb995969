"""Both kernels on a tape: which products they compute and what they leave behind for the backward pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from glassformer.tape import Shadow, Tape


@dataclass(frozen=True)
class Look:
    """How an attention looks: its mask, what positions add to its scores, and its dropout."""

    causal: bool
    masked: bool  # is there a mask t×s at all?
    dropout: float
    plain: bool = True  # a look-ahead mask and nothing else: fused kernels need no tensor for it
    bias: Shadow | None = None  # h t s
    cached: bool = False  # decoding keeps its keys and values


def shadow_reference(tape: Tape, q: Shadow, k: Shadow, v: Shadow, look: Look) -> Shadow:
    """Products want their operands in one piece: q, k and v are kept as copies, with keys and values for every head."""
    scores, heads = _shadow_products(tape, look)
    tape.keep(tape.new("b", "n_heads", "t", "d_k", width=q.width), "q")
    tape.keep(tape.new("b", "n_heads", "s", "d_k", width=k.width), "k")
    weights = tape.softmax(scores)
    if look.masked:
        tape.keep(tape.new("t", "s", width="1"), "blocked")
    if look.masked and not look.plain:  # rows that see nothing are set to 0
        weights = tape.new(*weights.shape)
    tape.keep(tape.cast(tape.dropout(weights, look.dropout)), "weights")
    tape.keep(tape.new("b", "n_heads", "s", "d_v", width=v.width), "v")
    return tape.new("b", "t", "n_heads×d_v", width=heads.width)  # the heads side by side are a copy


def shadow_fused(tape: Tape, q: Shadow, k: Shadow, v: Shadow, look: Look) -> Shadow:
    """q, k, v and the heads as they are, and one number for each row of the scores: their log-sum-exp.

    On the CPU torch has no such kernel for dropout, for d_v ≠ d_k or for a bias that is trained.
    """
    trained_bias = look.bias is not None and look.bias.grad
    dropout = look.dropout if tape.training else 0.0
    if not tape.accelerator and (dropout or trained_bias or tape.value("d_k") != tape.value("d_v")):
        return _shadow_fallback(tape, q, look)
    _, heads = _shadow_products(tape, look)
    for x, name in ((q, "q"), (k, "k"), (v, "v")):
        tape.keep(x, name)
    if look.bias is not None:
        tape.keep(tape.new("n_heads", "t", "s", width=q.width) if look.masked else look.bias, "bias")
    elif look.masked and not look.plain:
        tape.keep(tape.new("t", "s", width=q.width), "mask")  # as numbers: 0 or −∞
    tape.keep(tape.new("b", "n_heads", "t", width="4"), "logsumexp")
    tape.keep(heads, "heads")  # they lie in memory as q does: side by side they are a view, or a copy
    return heads.view("b", "t", "n_heads×d_v") if q.swapped else tape.new("b", "t", "n_heads×d_v", width=heads.width)


def _shadow_fallback(tape: Tape, q: Shadow, look: Look) -> Shadow:
    """torch's own three lines, in at least float32; q and k are scaled copies."""
    _, heads = _shadow_products(tape, look)
    wide = "4" if tape.w < 4 else "w"
    if look.masked and look.bias is not None and look.bias.grad:
        tape.keep(tape.new("t", "s", width="1"), "blocked")
    tape.keep(tape.new("b", "n_heads", "t", "d_k", width=wide), "q")
    tape.keep(tape.new("b", "n_heads", "s", "d_k", width=wide), "k")
    weights = tape.softmax(tape.new("b", "n_heads", "t", "s", width=wide))
    tape.keep(tape.dropout(weights, look.dropout), "weights")
    tape.keep(tape.new("b", "n_heads", "s", "d_v", width=wide), "v")
    return tape.new("b", "t", "n_heads×d_v", width=heads.width)


def _shadow_products(tape: Tape, look: Look) -> tuple[Shadow, Shadow]:
    """Q Kᵀ and weights × V: the same two products in every kernel."""
    pairs = "(t×(s-t)+t×(t+1)÷2)" if look.causal and tape.triangle else "t×s"
    scores = tape.matmul(f"b×n_heads×{pairs}×d_k", "scores", "b", "n_heads", "t", "s")
    return scores, tape.matmul(f"b×n_heads×{pairs}×d_v", "heads", "b", "n_heads", "t", "d_v")


SHADOWS: dict[str, Callable[[Tape, Shadow, Shadow, Shadow, Look], Shadow]] = {
    "reference": shadow_reference,
    "fused": shadow_fused,
}
