"""Embed: one vector per text, from the output of the last layer; texts of similar meaning have similar directions."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from glassformer.config.values import one_of
from glassformer.decoding.rules import check_finite
from glassformer.decoding.step import evaluating
from glassformer.errors import FileError
from glassformer.hub.sentence import SentenceEmbedding, read_sentence
from glassformer.layers.head import pool as pooled
from glassformer.loading import Loaded
from glassformer.models.decoder import DecoderOnly
from glassformer.models.encoder import EncoderOnly
from glassformer.models.encoder_decoder import EncoderDecoder
from glassformer.tasks.text_inputs import Rows, every_text, input_batches, text_ids

POOLS = ("mean", "cls", "max", "last", "weighted", "mean_sqrt")


@torch.no_grad()
def embed(
    loaded: Loaded, texts: str | Sequence[str], pool: str | None = None, *, truncate: bool = False
) -> Float[Tensor, "n d"]:
    r"""A vector for each text, on the CPU.

        mean:      v = Σ_t x_t / T            cls:   v = x_1        last:  v = x_T        max:  v_i = max_t x_ti
        weighted:  v = Σ_t t x_t / Σ_t t      mean_sqrt:  v = Σ_t x_t / √T          a+b:  concatenated

    over the real positions t = 1 … T. x is the output of the encoder, or of the decoder if there is no encoder; the
    head is not used. `pool=None`: as the model's own files say (sentence-transformers), else the mean.
    """
    how = SentenceEmbedding() if loaded.foreign is None else read_sentence(loaded.foreign)
    if pool is None and how.beyond is not None:
        raise FileError("hub_beyond_pool", path=how.beyond)
    ways = [one_of("pool", way, POOLS) for way in (pool or how.pool).split("+")]
    every = [how.prompt + (text.lower() if how.lower else text) for text in every_text(texts)]
    ids = [text_ids(loaded, text, truncate=truncate, longest=how.longest).tokens for text in every]
    found = torch.empty(len(every), loaded.config.model.d_model * len(ways))
    with evaluating(loaded.model):
        for some in input_batches(loaded, ids):
            x = stream(loaded.model, some)  # b t d_model
            x = x.float() if x.dtype != torch.float64 else x
            vectors = torch.cat([_pooled(x, way, some.mask) for way in ways], 1)  # b d
            vectors = F.normalize(vectors, dim=1) if how.normalize else vectors
            found = found.to(vectors.dtype)
            found[some.places] = check_finite(vectors).cpu()
    return found


def _pooled(x: Float[Tensor, "b t d"], way: str, mask: Tensor | None) -> Float[Tensor, "b d"]:
    """The ways of pooling that heads have, and two more for sentence vectors."""
    if way not in ("weighted", "mean_sqrt"):
        return pooled(x, "sep" if way == "last" else way, mask)
    real = torch.ones_like(x[..., :1]) if mask is None else mask[..., None].to(x)  # b t 1
    if way == "mean_sqrt":
        return (x * real).sum(1) / real.sum(1).sqrt()  # b d
    weights = real * real.cumsum(1)  # b t 1
    return (x * weights).sum(1) / weights.sum(1)  # b d


def stream(model: nn.Module, given: Rows) -> Float[Tensor, "b t d_model"]:
    """The input of the head; for an encoder-decoder, the memory."""
    if isinstance(model, EncoderDecoder):
        return model.encode(given.tokens, given.mask)
    assert isinstance(model, EncoderOnly | DecoderOnly)  # `build` makes no others
    x = model.embedding(given.tokens)  # b t d_model
    return model.encoder(x, real=given.mask) if isinstance(model, EncoderOnly) else model.decoder(x, real=given.mask)


def similarities(vectors: Float[Tensor, "n d_model"]) -> Float[Tensor, "n n"]:
    """The cosine of the angle between every two: 1 = the same direction, 0 = nothing in common."""
    directions = F.normalize(vectors, dim=1)
    return directions @ directions.T
