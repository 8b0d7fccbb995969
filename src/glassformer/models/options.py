"""The keywords of a block, declared once: a stack takes them and passes them on."""

from __future__ import annotations

from collections.abc import Collection
from typing import TypedDict

from glassformer.layers.norm import Norm


class BlockOptions(TypedDict, total=False):
    """The keywords of a block, for the stacks that pass them on (the defaults stand in `Block`)."""

    d_model: int
    n_heads: int
    d_ff: int
    n_kv_heads: int | None
    d_k: int | None
    d_v: int | None
    cross_attention: bool
    norm: str | Norm
    norm_order: str
    eps: float
    feed_forward: str
    activation: str
    bias: bool | Collection[str]
    qk_norm: bool
    attention_scale: float | None
    dropout: float
    attention_dropout: float | None
    feed_forward_dropout: float | None
    stochastic_depth: float
    kernel: str
