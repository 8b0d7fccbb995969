"""Embed: one vector for a text, from the last stream of the model; texts that mean the like lie in like directions."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from glassformer.evaluate.rows import Rows, rows
from glassformer.generate.finite import finite
from glassformer.generate.step import evaluating
from glassformer.layers.head import pool as pooled
from glassformer.models.decoder import DecoderOnly
from glassformer.models.encoder import EncoderOnly
from glassformer.models.encoder_decoder import EncoderDecoder
from glassformer.open import Loaded
from glassformer.values import one_of

POOLS = ("mean", "cls")


@torch.no_grad()
def embed(loaded: Loaded, texts: str | Sequence[str], pool: str = "mean") -> Float[Tensor, "n d_model"]:
    r"""A vector for each text, on the CPU.

        mean:  v = Σ_t x_t / T, over the real positions      cls:  v = x_1

    x is what leaves the encoder, or the decoder of a model that has no encoder; the head takes no part.
    """
    one_of("pool", pool, POOLS)
    every = [texts] if isinstance(texts, str) else list(texts)
    found = torch.empty(len(every), loaded.config.model.d_model)
    with evaluating(loaded.model):
        for some in rows(loaded, [loaded.framed(text) for text in every]):
            x = stream(loaded.model, some)  # b t d_model
            vectors = pooled(x.float() if x.dtype != torch.float64 else x, pool, some.mask)  # b d_model
            found = found.to(vectors.dtype)
            found[some.places] = finite(vectors).cpu()
    return found


def stream(model: nn.Module, given: Rows) -> Float[Tensor, "b t d_model"]:
    """What the head would be given; of an encoder-decoder the memory."""
    if isinstance(model, EncoderDecoder):
        return model.encode(given.tokens, given.mask)
    assert isinstance(model, EncoderOnly | DecoderOnly)  # all that `build` makes
    x = model.embedding(given.tokens)  # b t d_model
    return model.encoder(x, given.mask) if isinstance(model, EncoderOnly) else model.decoder(x, mask=given.mask)


def similarities(vectors: Float[Tensor, "n d_model"]) -> Float[Tensor, "n n"]:
    """The cosine of the angle between every two: 1 = the same direction, 0 = nothing in common."""
    directions = F.normalize(vectors, dim=1)
    return directions @ directions.T
