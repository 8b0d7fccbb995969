"""The whole of Figure 1: encoder and decoder joined by cross-attention. The paper's model, T5, BART, Marian, DETR."""

from __future__ import annotations

from jaxtyping import Bool, Float, Shaped
from torch import Tensor, nn

from glassformer.errors import InputError
from glassformer.layers.attention import Cache
from glassformer.layers.attention.mask import Branches
from glassformer.layers.embedding import token_matrix
from glassformer.layers.queries import LearnedQueries
from glassformer.models.decoder import Decoder
from glassformer.models.encoder import Encoder


class EncoderDecoder(nn.Module):
    """Source → encoder → memory; target → decoder, looking at memory → head.

    `embedding` serves both sides when `target_embedding` is None; a tied head shares the target's matrix. If
    `target_embedding` is `LearnedQueries`, there is no target: `model(images)`.
    """

    def __init__(
        self,
        *,
        embedding: nn.Module,
        encoder: Encoder,
        decoder: Decoder,
        head: nn.Module,
        target_embedding: nn.Module | None = None,
    ) -> None:
        super().__init__()
        self.embedding, self.encoder = embedding, encoder
        self.target_embedding, self.decoder = target_embedding, decoder
        self.head = head

    def forward(
        self,
        source: Shaped[Tensor, "b s ..."],
        target: Shaped[Tensor, "b t ..."] | None = None,
        source_real: Bool[Tensor, "b s"] | None = None,
        target_real: Bool[Tensor, "b t"] | None = None,
    ) -> Float[Tensor, "b t ..."]:
        """All target positions at once, as in training. `source_real`, `target_real`: True = a token, not padding."""
        return self.decode(target, self.encode(source, source_real), target_real, source_real)

    def encode(self, source: Tensor, real: Tensor | None = None) -> Float[Tensor, "b s d_model"]:
        return self.encoder(self.embedding(source), real=real)

    def decode(
        self,
        target: Tensor | None,
        memory: Float[Tensor, "b s d_model"],
        real: Tensor | None = None,
        memory_real: Tensor | None = None,
        *,
        branches: Branches | None = None,
        cache: Cache | None = None,
    ) -> Float[Tensor, "b t ..."]:
        """With a cache, `target` holds only the new tokens; with `branches`, these are ways to go on: see `Decoder`."""
        embedding = self.embedding if self.target_embedding is None else self.target_embedding
        has_queries = isinstance(embedding, LearnedQueries)
        if has_queries != (target is None):
            raise InputError("target_unexpected" if has_queries else "target_missing")
        begins = embedding(memory.shape[0]) if target is None else embedding(target)  # b t d_model
        x = self.decoder(
            begins, memory, real=real, memory_real=memory_real, branches=branches, cache=cache
        )  # b t d_model
        return self.head(x, None if real is None else real[:, -x.shape[1] :], token_matrix(embedding))
