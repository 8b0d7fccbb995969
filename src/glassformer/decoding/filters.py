"""Which tokens may be sampled: each filter takes logits and gives logits, with −∞ for what is left out.

They are applied in Hugging Face's order: temperature, top-k, top-p, min-p.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

Logits = Float[Tensor, "b v"]
NEVER = float("-inf")


def heat(logits: Logits, temperature: float) -> Logits:
    """p(v) ∝ exp(logit_v / T). T < 1 sharpens, T > 1 flattens; towards 0 only the most probable token is left.

    The largest logit is taken off first, which changes no probability: nothing overflows, however small T is.
    """
    smallest = torch.finfo(logits.dtype).tiny
    return (logits - logits.amax(1, keepdim=True)) / max(temperature, smallest)


def keep_top_k(logits: Logits, k: int) -> Logits:
    """The k largest logits (Fan et al. 2018), and those equal to the last of them."""
    least = logits.topk(min(k, logits.shape[1])).values[:, -1:]  # b 1
    return logits.masked_fill(logits < least, NEVER)


def keep_top_p(logits: Logits, p: float) -> Logits:
    """The nucleus (Holtzman et al. 2020): the fewest tokens, the most probable first, whose sum is at least p.

    A token goes when it and all less probable ones together have at most 1 − p. The most probable one always stays.
    """
    ascending = logits.sort(1)
    gone = ascending.values.softmax(1).cumsum(1) <= 1.0 - p  # b v
    gone[:, -1] = False
    return logits.masked_fill(gone.scatter(1, ascending.indices, gone), NEVER)


def keep_min_p(logits: Logits, p: float) -> Logits:
    """Tokens with at least p times the probability of the most probable one (Nguyen et al. 2024)."""
    probabilities = logits.softmax(1)  # b v
    return logits.masked_fill(probabilities < p * probabilities.amax(1, keepdim=True), NEVER)
