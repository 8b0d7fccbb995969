"""How surprised a language model is, in every unit in use: nats, bits, perplexity."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, isfinite, log

from glassformer.errors import InputError

LARGEST_EXPONENT = 709.0  # e^710 is more than a float can hold


@dataclass(frozen=True)
class Surprise:
    """The mean over tokens of -log p: in nats (the loss), in bits, and as perplexity, its exponential."""

    nats: float
    bits: float
    perplexity: float
    tokens: int


def perplexity(loss: float, tokens: int) -> Surprise:
    r"""From the sum of the losses in nats and the number of tokens.

        nats = Σ -ln p / n     bits = nats / ln 2     perplexity = e^nats

    The sum and the count come from all batches before the one division: a mean of means of unequal batches is
    another number. Perplexities compare only between models with the same tokens.
    """
    nats = _per(loss, tokens)
    return Surprise(nats, nats / log(2), exp(nats) if nats <= LARGEST_EXPONENT else float("inf"), tokens)


def bits_per_character(loss: float, characters: int) -> float:
    """The same loss shared out among the characters of the text: comparable between tokenizers."""
    return _per(loss, characters) / log(2)


def _per(loss: float, count: int) -> float:
    if count <= 0:
        raise InputError("metric_nothing", metric="perplexity")
    if not isfinite(loss):
        raise InputError("metric_not_finite", metric="perplexity")
    return loss / count
