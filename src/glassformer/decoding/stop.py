"""When a beam search may stop with a sentence: three rules that differ in what they still hope for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Standing:
    """How far the search of each sentence is."""

    running: Tensor  # b: log-probability of the best hypothesis that goes on
    worst: Tensor  # b: score of the worst finished one, −∞ while there are fewer than beams
    norm: float  # the length norm now
    longest: Tensor  # b: the length norm at the sentence's longest possible length
    alpha: float


def first(at: Standing) -> Tensor:
    """As soon as there are as many finished hypotheses as beams (Hugging Face: early_stopping=True)."""
    return at.worst > float("-inf")


def bound(at: Standing) -> Tensor:
    """… and none that goes on would be better than the worst of them if it ended now (early_stopping=False).

    Exact without a length norm, because a sum of logarithms only falls; with one, a longer hypothesis could still win.
    """
    return first(at) & (at.running / at.norm <= at.worst)


def exhaustive(at: Standing) -> Tensor:
    """… and none would be, even if it kept its log-probability up to its longest length (early_stopping="never")."""
    norm = at.longest if at.alpha > 0.0 else at.norm
    return first(at) & (at.running / norm <= at.worst)


STOP_RULES: dict[str, Callable[[Standing], Tensor]] = {
    "first": first,
    "bound": bound,
    "exhaustive": exhaustive,
}
