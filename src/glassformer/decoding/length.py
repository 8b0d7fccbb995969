"""Length norms of beam search: without one, every further token makes a hypothesis worse and short ones win."""

from __future__ import annotations

from collections.abc import Callable


def gnmt(length: int, alpha: float) -> float:
    """The paper's, §6.1 with α = 0.6, from Wu et al. 2016, Eq. (14): lp(Y) = ((5 + |Y|) / 6)^α."""
    return float(((5.0 + length) / 6.0) ** alpha)


def power(length: int, alpha: float) -> float:
    """|Y|^α, the `length_penalty` of Hugging Face and CTranslate2; α = 1 is the mean log-probability of a token."""
    return float(float(length) ** alpha)


def none(length: int, alpha: float) -> float:
    """1: the plain sum of log-probabilities."""
    return 1.0


# The score of a hypothesis is its log-probability divided by the norm. |Y| counts the new tokens, the end included and
# the beginning (or the prompt) not: so do Hugging Face and tensor2tensor.
LENGTH_NORMS: dict[str, Callable[[int, float], float]] = {
    "gnmt": gnmt,
    "power": power,
    "none": none,
}
