"""The encoder, left side of Figure 1, and the models that are an encoder alone: BERT, ViT."""

from __future__ import annotations

from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor, nn

from glassformer.errors import InputError
from glassformer.layers.attention.mask import Mask, Packing, as_allowed
from glassformer.layers.embedding import TokenEmbedding, check_vectors, token_matrix
from glassformer.models.block import EncoderBlock
from glassformer.models.stack import Stack


class Encoder(Stack):
    """The encoder, §3.1, on vectors: every position looks at every position, N times. See `Stack`."""

    block = EncoderBlock
    bidirectional = True

    def forward(
        self,
        x: Float[Tensor, "b t d_model"],
        mask: Bool[Tensor, "..."] | None = None,
        *,
        real: Bool[Tensor, "b t"] | None = None,
        packing: Packing | None = None,
    ) -> Float[Tensor, "b t d_model"]:
        """`mask`, True = may look: t s, b t s or b h t s. `real`, True = a token, not padding: b t.

        `packing`: the row holds several texts, which do not see each other.
        """
        b, t, _ = check_vectors(x, self.d_model).shape
        both = None if packing is None else (packing, packing)
        everywhere = Mask(causal=self.causal, allowed=as_allowed(mask, real, b, t, t), packing=both)
        rules = self.rules(everywhere, t, t, x.device)
        x, effect = self.enter(x, real, packing=packing)
        for block, seen in zip(self.blocks, rules, strict=True):
            x = block(x, seen, positions=effect)  # b t d_model
        return self.leave(x)


class EncoderOnly(nn.Module):
    """Input → encoder → head: BERT on tokens, ViT on patches."""

    def __init__(self, *, embedding: nn.Module, encoder: Encoder, head: nn.Module) -> None:
        super().__init__()
        self.embedding, self.encoder, self.head = embedding, encoder, head

    def forward(
        self,
        inputs: Shaped[Tensor, "b ..."],
        real: Bool[Tensor, "b t"] | None = None,
        segments: Int[Tensor, "b t"] | None = None,
    ) -> Float[Tensor, "b ..."]:
        """`real`: True = a token, not padding. `segments`: which sentence of a pair a token belongs to, as in BERT."""
        if segments is not None and not isinstance(self.embedding, TokenEmbedding):
            raise InputError("segments_unexpected")
        x = self.embedding(inputs) if segments is None else self.embedding(inputs, segments)  # b t d_model
        return self.head(self.encoder(x, real=real), real, token_matrix(self.embedding))
