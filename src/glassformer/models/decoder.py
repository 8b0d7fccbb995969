"""The decoder, right side of Figure 1, and the models that are a decoder alone: GPT, LLaMA."""

from __future__ import annotations

from typing import Any

from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor, nn

from glassformer.errors import InputError
from glassformer.layers.attention import Cache, Mask
from glassformer.layers.attention.mask import Branches, Packing, as_allowed, combine, same_document
from glassformer.layers.embedding import check_precision, check_vectors, token_matrix
from glassformer.models.block import DecoderBlock
from glassformer.models.context import Memory
from glassformer.models.stack import Stack, places


class Decoder(Stack):
    """The decoder, §3.1, on vectors: every position looks at those before it, N times, and at `memory` if given.

    `cross_attention=True` gives the paper's decoder; without it, blocks are GPT's. With `causal=False` all positions
    look at each other, as object queries do, so they cannot be decoded one by one. See `Stack`.
    """

    block = DecoderBlock
    bidirectional = False

    def forward(
        self,
        x: Float[Tensor, "b t d_model"],
        memory: Float[Tensor, "b s d_model"] | None = None,
        mask: Bool[Tensor, "..."] | None = None,
        memory_mask: Bool[Tensor, "..."] | None = None,
        *,
        real: Bool[Tensor, "b s"] | None = None,
        memory_real: Bool[Tensor, "b s"] | None = None,
        prefix: Int[Tensor, " b"] | None = None,
        documents: Int[Tensor, "b t"] | None = None,
        packing: Packing | None = None,
        memory_packing: Packing | None = None,
        branches: Branches | None = None,
        cache: Cache | None = None,
    ) -> Float[Tensor, "b t d_model"]:
        """`mask` (besides the look-ahead mask) and `memory_mask`, True = may look: t s, b t s or b h t s.

        `real` and `memory_real`, True = a token, not padding: b s.
        With a cache, x holds only the new positions, `mask` and `real` cover the past ones too; the cache grows by t.
        `documents`: the number of the document that a token belongs to, if several are packed in a row. No token sees
        another document, and positions restart in each. `packing` and `memory_packing`: the same for a single row
        without padding, in the form that a kernel can use. `branches`: the new tokens are several ways to go on with
        the same text, and say themselves what they see.
        """
        b, t, _ = check_vectors(x, self.d_model).shape
        if not self.causal and not (prefix is None and cache is None):
            raise InputError("not_causal")
        past = 0 if cache is None else self._check_cache(cache, b)
        allowed = as_allowed(mask if branches is None else branches.seen, real, b, t, past + t)
        if documents is not None:
            allowed = combine(allowed, self._packed(documents, b, t, past))
        both = None if packing is None else (packing, packing)
        shared = self._shared(prefix, real, b, past + t)
        everywhere = Mask(causal=self.causal, prefix=shared, allowed=allowed, packing=both)
        if branches is not None:
            everywhere = Mask(allowed=allowed, distance=branches.distance)
        rules = self.rules(everywhere, t, past + t, x.device)
        x, effect = self.enter(x, real, past, documents, packing, branches)
        source = None
        if memory is not None:
            self._check_memory(memory, b)
            seen = as_allowed(memory_mask, memory_real, b, t, memory.shape[1])
            across = None if packing is None or memory_packing is None else (packing, memory_packing)
            source = Memory(memory, Mask(allowed=seen, packing=across))
        for layer, block in enumerate(self.blocks):
            x = block(x, source, rules[layer], positions=effect, cache=None if cache is None else cache.layers[layer])
        return self.leave(x)

    def _check_memory(self, memory: Tensor, b: int) -> None:
        if memory.dim() != 3 or memory.shape[0] != b or memory.shape[2] != self.d_model:
            raise InputError("memory_shape", shape=tuple(memory.shape), batch=b, d_model=self.d_model)
        check_precision(memory, self)

    def _check_cache(self, cache: Cache, b: int) -> int:
        """How many positions are in the cache; it must fit this decoder and this batch."""
        k = cache.layers[0].past.k if cache.layers else None
        if len(cache.layers) != len(self.blocks) or (k is not None and k.shape[0] != b):
            rows = "–" if k is None else k.shape[0]
            raise InputError("cache_shape", layers=len(cache.layers), rows=rows, n_layers=len(self.blocks), batch=b)
        return cache.length

    def _shared(self, prefix: Tensor | None, real: Tensor | None, b: int, s: int) -> Tensor | None:
        """The keys that belong to the prefix, b s. It counts real tokens: padding in front does not belong to it."""
        if prefix is None:
            return None
        if not isinstance(prefix, Tensor) or prefix.shape != (b,) or prefix.is_floating_point():
            raise InputError("prefix_shape", batch=b)
        return places(real, s, 0, prefix.device) < prefix[:, None]  # b s

    def _packed(self, documents: Tensor, b: int, t: int, past: int) -> Tensor:
        """Which tokens share a document, b 1 t s. Refused with a cache: generation continues a single text."""
        fits = isinstance(documents, Tensor) and documents.shape == (b, t) and not documents.is_floating_point()
        if not fits or past:
            raise InputError("documents_shape", batch=b, length=t)
        return same_document(documents)[:, None]  # b 1 t s

    def empty_cache(self) -> Cache:
        return Cache.empty(len(self.blocks))

    @property
    def may_be_slotted(self) -> bool:
        """Whether slots can hold its cache: a slot is no position, so a window or a bias by distance would be wrong."""
        positions: Any = self.positions
        return self.window is None and positions.acts_on in ("stream", "queries and keys")


class DecoderOnly(nn.Module):
    """Tokens → decoder → head: GPT, LLaMA."""

    def __init__(self, *, embedding: nn.Module, decoder: Decoder, head: nn.Module) -> None:
        super().__init__()
        self.embedding, self.decoder, self.head = embedding, decoder, head

    def forward(
        self,
        inputs: Shaped[Tensor, "b t ..."],
        real: Bool[Tensor, "b s"] | None = None,
        *,
        prefix: Int[Tensor, " b"] | None = None,
        documents: Int[Tensor, "b t"] | None = None,
        branches: Branches | None = None,
        cache: Cache | None = None,
    ) -> Float[Tensor, "b t ..."]:
        """`real`, True = a token, not padding. `prefix`: this many first tokens see each other in both directions.

        `documents`: which of several packed texts a token belongs to; `branches`: several ways to go on; see `Decoder`.
        """
        x = self.decoder(
            self.embedding(inputs), real=real, prefix=prefix, documents=documents, branches=branches, cache=cache
        )
        return self.head(x, None if real is None else real[:, -x.shape[1] :], token_matrix(self.embedding))
