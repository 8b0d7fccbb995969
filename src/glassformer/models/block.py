"""One layer of the encoder or of the decoder: the grey boxes of Figure 1."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TypedDict

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from glassformer.config.values import BIASES, biases, one_of
from glassformer.errors import InputError, choose, shown
from glassformer.kernels.dropout import Dropout
from glassformer.layers.attention import LayerCache, Mask, MultiHeadAttention
from glassformer.layers.attention.mask import as_allowed
from glassformer.layers.feed_forward import FEED_FORWARDS
from glassformer.layers.norm import NORMS, Norm
from glassformer.layers.residual import NORM_ORDERS, StochasticDepth, add_norm
from glassformer.models.context import NO_EFFECT, Context, Memory, PositionEffect
from glassformer.tap import observed, tap


class Block(nn.Module):
    r"""One layer, §3.1: self-attention, cross-attention if it has one, feed-forward; Add & Norm around each.

        post, pre   x ← add_norm(x, SelfAttention), [x ← add_norm(x, CrossAttention)], x ← add_norm(x, FFN)
        parallel    y = Norm(x);  x ← x + SelfAttention(y) [+ CrossAttention(y)] + FFN(y)     (GPT-J, PaLM)

    `bias` lists which of q, k, v, o, feed_forward and norm have a bias. `attention_dropout` (on the weights) and
    `feed_forward_dropout` (between the products) follow `dropout` (on each sub-layer's output) unless given.
    Differs from the paper: nothing by default, except for dropout inside the sub-layers, which the paper does not have.
    """

    recompute = False  # see `recompute` below

    def sublayers(self, x: Float[Tensor, "b t d_model"], context: Context) -> Float[Tensor, "b t d_model"]:
        """The sub-layers in order. `context` says what the attentions may look at."""

        def self_attention(y: Tensor) -> Tensor:
            return context.look_at_self(self.self_attention, y)

        def cross_attention(y: Tensor) -> Tensor:
            return context.look_at_memory(self.cross_attention, y)

        if self.norm is not None:  # parallel: one norm, and all sub-layers read the same y
            y = self.norm(x)  # b t d_model
            x = x + self.drop(self_attention(y))
            x = x if context.memory is None else x + self.drop(cross_attention(y))
            return tap("output", x + self.drop(self.feed_forward(y)))

        x = tap("after_self_attention", self._add_norm(x, self_attention, self.self_attention_norm))
        if context.memory is not None:
            x = tap("after_cross_attention", self._add_norm(x, cross_attention, self.cross_attention_norm))
        return tap("output", self._add_norm(x, self.feed_forward, self.feed_forward_norm))

    def _add_norm(self, x: Tensor, sublayer: Callable[[Tensor], Tensor], norm: nn.Module | None) -> Tensor:
        """post: norm(x + drop(sublayer(x))); pre: x + drop(sublayer(norm(x))). See layers/residual.py."""
        assert norm is not None
        return add_norm(x, sublayer, norm, self.drop, self.norm_order)

    def __init__(
        self,
        *,
        d_model: int,
        n_heads: int,
        d_ff: int,
        n_kv_heads: int | None = None,
        d_k: int | None = None,
        d_v: int | None = None,
        cross_attention: bool = False,
        norm: str | Norm = "layer",
        norm_order: str = "post",
        eps: float = 1e-5,
        feed_forward: str = "mlp",
        activation: str = "relu",
        bias: bool | Collection[str] = BIASES,
        qk_norm: bool = False,
        attention_scale: float | None = None,
        dropout: float = 0.0,
        attention_dropout: float | None = None,
        feed_forward_dropout: float | None = None,
        stochastic_depth: float = 0.0,
        kernel: str = "fused",
    ) -> None:
        super().__init__()
        bias = biases("bias", bias)
        make_norm = choose("norm", norm, NORMS) if isinstance(norm, str) else norm
        norm_order = one_of("norm_order", norm_order, NORM_ORDERS)

        def attention() -> MultiHeadAttention:
            return MultiHeadAttention(
                d_model=d_model,
                n_heads=n_heads,
                n_kv_heads=n_kv_heads,
                d_k=d_k,
                d_v=d_v,
                bias=bias,
                qk_norm=make_norm if qk_norm else None,
                eps=eps,
                scale=attention_scale,
                dropout=dropout if attention_dropout is None else attention_dropout,
                kernel=kernel,
            )

        def add_norm_norm() -> nn.Module:
            return make_norm(d_model, eps=eps, bias="norm" in bias)

        parallel = norm_order == "parallel"
        self.norm_order = norm_order
        self.norm = add_norm_norm() if parallel else None
        self.self_attention = attention()
        self.self_attention_norm = None if parallel else add_norm_norm()
        self.cross_attention = attention() if cross_attention else None
        self.cross_attention_norm = add_norm_norm() if cross_attention and not parallel else None
        self.feed_forward = choose("feed_forward", feed_forward, FEED_FORWARDS)(
            d_model=d_model,
            d_ff=d_ff,
            activation=activation,
            bias="feed_forward" in bias,
            dropout=dropout if feed_forward_dropout is None else feed_forward_dropout,
        )
        self.feed_forward_norm = None if parallel else add_norm_norm()
        self.drop = nn.Sequential(Dropout(dropout), StochasticDepth(stochastic_depth))


class BlockOptions(TypedDict, total=False):
    """The keywords of `Block`, for the stacks that pass them on; the defaults are those of its signature alone."""

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


class EncoderBlock(Block):
    """Left half of Figure 1: every token looks at every token."""

    def forward(
        self,
        x: Float[Tensor, "b t d_model"],
        mask: Mask | Tensor | None = None,
        *,
        real: Tensor | None = None,
        positions: PositionEffect = NO_EFFECT,
    ) -> Float[Tensor, "b t d_model"]:
        """`mask`, True = may look: t s, b t s or b h t s. `real`, True = a token, not padding: b t."""
        b, t = x.shape[:2]
        rules = mask if isinstance(mask, Mask) else Mask(allowed=as_allowed(mask, real, b, t, t))
        return _run(self, x, Context(rules, memory=None, positions=positions, cache=None))


class DecoderBlock(Block):
    """One layer of a decoder: a token looks at its past. By default this is GPT's block; the right half of Figure 1,
    which also looks at the encoder's output, is `DecoderBlock(…, cross_attention=True)`, called as block(x, memory).
    """

    def forward(
        self,
        x: Float[Tensor, "b t d_model"],
        memory: Memory | Tensor | None = None,
        mask: Mask | Tensor | None = None,
        memory_mask: Tensor | None = None,
        *,
        real: Tensor | None = None,
        memory_real: Tensor | None = None,
        positions: PositionEffect = NO_EFFECT,
        cache: LayerCache | None = None,
    ) -> Float[Tensor, "b t d_model"]:
        """`mask` (besides the look-ahead mask) and `memory_mask`, True = may look: t s, b t s or b h t s.

        `real` and `memory_real`, True = a token, not padding: b s.
        """
        b, t = x.shape[:2]
        s = t if cache is None else t + cache.length
        rules = mask if isinstance(mask, Mask) else Mask(causal=True, allowed=as_allowed(mask, real, b, t, s))
        if (memory is None) != (self.cross_attention is None):
            raise InputError("memory_missing" if memory is None else "memory_unexpected")
        if isinstance(memory, Tensor):
            seen = as_allowed(memory_mask, memory_real, b, t, memory.shape[1])
            memory = Memory(memory, Mask(allowed=seen))
        return _run(self, x, Context(rules, memory, positions, cache))


def recompute(model: nn.Module, on: bool = True) -> nn.Module:
    """Activation checkpointing (Chen et al. 2016) for every block of a model: less memory, one more forward pass.

    A block then keeps only its input, and computes the rest a second time in the backward pass.
    """
    if not isinstance(model, nn.Module):
        raise InputError("not_a_module", given=shown(model))
    for module in model.modules():
        if isinstance(module, Block):
            module.recompute = on
    return model


def _run(block: Block, x: Tensor, context: Context) -> Tensor:
    """The block's sub-layers, recomputed if asked for, but not under an observer, which must see each tensor once."""
    if block.recompute and torch.is_grad_enabled() and context.cache is None and not observed():
        output: Tensor = checkpoint(block.sublayers, x, context, use_reentrant=False)
        return output
    return block.sublayers(x, context)
