"""The decoder, right side of Figure 1, and the models that are a decoder alone: GPT, LLaMA."""

from __future__ import annotations

from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor, nn

from glassformer.layers.attention import Cache, Mask
from glassformer.layers.attention.mask import as_allowed
from glassformer.layers.embedding import token_matrix
from glassformer.models.block import DecoderBlock, Memory
from glassformer.models.stack import Stack


class Decoder(Stack):
    """The decoder, §3.1, on vectors: every position looks at those before it, N times, and at `memory` if it has one.

    `cross_attention=True` gives the paper's decoder, without it the block of GPT. See `Stack`.
    """

    block = DecoderBlock
    bidirectional = False

    def forward(
        self,
        x: Float[Tensor, "b t d_model"],
        memory: Float[Tensor, "b s d_model"] | None = None,
        mask: Bool[Tensor, "..."] | None = None,
        memory_mask: Bool[Tensor, "b s"] | None = None,
        *,
        prefix: Int[Tensor, " b"] | None = None,
        cache: Cache | None = None,
    ) -> Float[Tensor, "b t d_model"]:
        """With a cache, x holds the new positions only and `mask` covers the past ones too; the cache grows by t."""
        t, past = x.shape[-2], 0 if cache is None else cache.length
        rules = Mask(causal=True, window=self.window, prefix=prefix, allowed=as_allowed(mask, past + t))
        rules = rules.resolved(t, past + t, x.device)
        x, place = self.enter(x, mask, past)
        source = None if memory is None else Memory(memory, Mask(allowed=as_allowed(memory_mask, memory.shape[1])))
        for layer, block in enumerate(self.blocks):
            x = block(x, source, rules, place=place, cache=None if cache is None else cache.layers[layer])
        return self.leave(x)

    def empty_cache(self) -> Cache:
        return Cache.empty(len(self.blocks))


class DecoderOnly(nn.Module):
    """Tokens → decoder → head: GPT, LLaMA."""

    def __init__(self, *, embedding: nn.Module, decoder: Decoder, head: nn.Module) -> None:
        super().__init__()
        self.embedding, self.decoder, self.head = embedding, decoder, head

    def forward(
        self,
        inputs: Shaped[Tensor, "b t ..."],
        mask: Bool[Tensor, "b s"] | None = None,
        *,
        prefix: Int[Tensor, " b"] | None = None,
        cache: Cache | None = None,
    ) -> Float[Tensor, "b t ..."]:
        """`mask`: True = a real token. `prefix`: how many tokens at the start see each other in both directions."""
        x = self.decoder(self.embedding(inputs), mask=mask, prefix=prefix, cache=cache)  # b t d_model
        return self.head(x, None if mask is None else mask[:, -x.shape[1] :], token_matrix(self.embedding))
