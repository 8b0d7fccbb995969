"""A block on a tape: `Block.run`, line for line, in symbols."""

from __future__ import annotations

from collections.abc import Callable
from typing import Unpack

from glassformer.layers.attention import MultiHeadAttention
from glassformer.layers.attention.shadow import Look
from glassformer.layers.feed_forward import FEED_FORWARDS
from glassformer.layers.norm import NORMS
from glassformer.layers.position import ShadowRotation
from glassformer.layers.residual import StochasticDepth
from glassformer.models.options import BlockOptions
from glassformer.tape import Shadow, Tape


def shadow_block(
    tape: Tape,
    x: Shadow,
    memory: Shadow | None,
    look: Look,
    rotation: ShadowRotation | None,
    **block: Unpack[BlockOptions],
) -> Shadow:
    """The sub-layers in order. What they add to the stream is dropped first; the sum is a new tensor."""
    sublayers = _sublayers(tape, memory, look, rotation, block)

    def normalise(y: Shadow, name: str) -> Shadow:
        with tape.at(name):
            return NORMS[str(block.get("norm", "layer"))].shadow(tape, y)

    def drop(y: Shadow) -> None:
        with tape.at("drop"):
            y = tape.dropout(y, block.get("dropout", 0.0))
            StochasticDepth.shadow(tape, y, rate=block.get("stochastic_depth", 0.0))

    if block.get("norm_order", "post") == "parallel":
        y = normalise(x, "norm")
        for sublayer in sublayers.values():
            drop(sublayer(y))
        return tape.new(*x.shape)
    for name, sublayer in sublayers.items():
        if block.get("norm_order", "post") == "post":
            drop(sublayer(x))
            x = normalise(tape.new(*x.shape), f"{name}_norm")
        else:
            drop(sublayer(normalise(x, f"{name}_norm")))
            x = tape.new(*x.shape)
    return x


def _sublayers(
    tape: Tape,
    memory: Shadow | None,
    look: Look,
    rotation: ShadowRotation | None,
    block: BlockOptions,
) -> dict[str, Callable[[Shadow], Shadow]]:
    norm = str(block.get("norm", "layer")) if block.get("qk_norm") else None
    network, rate = FEED_FORWARDS[block.get("feed_forward", "mlp")], block.get("feed_forward_dropout")
    rate = block.get("dropout", 0.0) if rate is None else rate

    def self_attention(y: Shadow) -> Shadow:
        with tape.at("self_attention", s=tape.value("t") + tape.past):
            return MultiHeadAttention.shadow(tape, y, y, look, rotation=rotation, qk_norm=norm)

    def cross_attention(y: Shadow) -> Shadow:
        everything = Look(causal=False, masked=False, dropout=look.dropout, cached=look.cached)
        with tape.at("cross_attention"):
            seen = None if tape.past else memory  # the cache has its keys
            return MultiHeadAttention.shadow(tape, y, seen, everything, rotation=None, qk_norm=norm)

    def feed_forward(y: Shadow) -> Shadow:
        with tape.at("feed_forward"):
            return network.shadow(tape, y, activation=block.get("activation", "relu"), dropout=rate)

    if memory is None:
        return {"self_attention": self_attention, "feed_forward": feed_forward}
    return {"self_attention": self_attention, "cross_attention": cross_attention, "feed_forward": feed_forward}
