"""The result of decoding: one continuation or translation, with its score."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Hypothesis:
    """Tokens without the ones that begin and end it.

    `log_probability`: Σ log p(y_i | y_<i, x), the end included. `score`: that sum over the length norm of the search;
    without one they are the same. `finished`: it ended by itself, not because of `max_len`.
    """

    tokens: list[int]
    score: float
    log_probability: float
    finished: bool
