"""The rules of a search: length norms, when to stop, picking the largest scores, refusing NaN."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from glassformer.decoding.lagging import LaggingAnswer
from glassformer.errors import InputError
from glassformer.tap import observed


def gnmt(length: int, alpha: float) -> float:
    """The paper's, §6.1 with α = 0.6, from Wu et al. 2016, Eq. (14): lp(Y) = ((5 + |Y|) / 6)^α."""
    return float(((5.0 + length) / 6.0) ** alpha)


def power(length: int, alpha: float) -> float:
    """|Y|^α, the `length_penalty` of Hugging Face and CTranslate2; α = 1 is the mean log-probability of a token."""
    return float(float(length) ** alpha)


def none(length: int, alpha: float) -> float:
    """1: the plain sum of log-probabilities."""
    return 1.0


# The score of a hypothesis is its log-probability divided by the norm. |Y| counts the new tokens including the end, but
# not the beginning or the prompt, as in Hugging Face and tensor2tensor.
LENGTH_NORMS: dict[str, Callable[[int, float], float]] = {
    "gnmt": gnmt,
    "power": power,
    "none": none,
}


@dataclass(frozen=True)
class SearchProgress:
    """How far the search has come in each sentence."""

    running: Tensor  # b: log-probability of the best hypothesis that goes on
    worst: Tensor  # b: score of the worst finished one, −∞ while there are fewer of them than beams
    norm: float  # the length norm now
    longest: Tensor  # b: the length norm at the sentence's longest possible length
    alpha: float


def first(at: SearchProgress) -> Tensor:
    """Stop as soon as there are as many finished hypotheses as beams (Hugging Face: early_stopping=True)."""
    return at.worst > float("-inf")


def bound(at: SearchProgress) -> Tensor:
    """As `first`, and no running hypothesis would beat the worst of them if it ended now (early_stopping=False).

    Exact without a length norm, because a sum of log-probabilities only falls; with one, a longer one could still win.
    """
    return first(at) & (at.running / at.norm <= at.worst)


def exhaustive(at: SearchProgress) -> Tensor:
    """As `bound`, but even if it kept its log-probability up to its longest length (early_stopping="never")."""
    norm = at.longest if at.alpha > 0.0 else at.norm
    return first(at) & (at.running / norm <= at.worst)


STOP_RULES: dict[str, Callable[[SearchProgress], Tensor]] = {
    "first": first,
    "bound": bound,
    "exhaustive": exhaustive,
}


GROUP = 32  # a power of 2


def largest(x: Float[Tensor, "b v"], k: int) -> tuple[Float[Tensor, "b k"], Int[Tensor, "b k"]]:
    """The k largest of each row, in order, and their positions.

    On a CPU a partial sort of the whole row takes longer than the rest of the step. The k largest lie in the
    k groups with the largest maxima, and maxima are fast, so groups are chosen first, and only their content is sorted.
    """
    groups = x.shape[1] // GROUP
    if x.device.type != "cpu" or groups <= 2 * k:
        best = x.topk(k)
        return best.values, best.indices
    whole = GROUP * groups
    chosen = _group_maxima(x[:, :whole]).topk(k, sorted=False).indices  # b k
    within = torch.arange(0, whole, groups)  # a group is every groups-th number
    at = (chosen[:, None, :] + within[:, None]).flatten(1)  # b GROUP·k
    rest = torch.arange(whole, x.shape[1]).expand(x.shape[0], -1)  # b <GROUP
    at = torch.cat([at, rest], 1)
    best = x.gather(1, at).topk(k)
    return best.values, at.gather(1, best.indices)


class LargestSums(NamedTuple):
    """The best continuations of a text, b k, the best first: the sums, what is new in them, and where it was."""

    sums: Tensor
    new: Tensor
    columns: Tensor
    beams: Tensor


def largest_sums(new: Float[Tensor, "b w v"], before: Float[Tensor, "b w"], k: int) -> LargestSums:
    """The k largest of before + new in each row, in order.

    On a CPU by groups, as `largest`: adding to a group's maximum gives the maximum of its sums, so only k groups of
    all beams together are looked at.
    """
    b, w, v = new.shape
    groups = v // GROUP
    if new.device.type != "cpu" or groups <= 2 * k:
        words, columns = largest(new.flatten(0, 1), min(k, v))  # b·w k
        return of_all_beams(words.view(b, w, -1), columns.view(b, w, -1), before, k)
    whole = GROUP * groups
    maxima = _group_maxima(new.flatten(0, 1)[:, :whole]).view(b, w, groups) + before[:, :, None]
    chosen = maxima.flatten(1).topk(k, sorted=False).indices  # b k
    first = chosen // groups * v + chosen % groups  # in a row of all beams
    at = (first[:, None, :] + torch.arange(0, whole, groups)[:, None]).flatten(1)  # b GROUP·k
    rest = (torch.arange(w)[:, None] * v + torch.arange(whole, v)).flatten().expand(b, -1)  # b <GROUP·w
    at = torch.cat([at, rest], 1)
    looked_at = new.flatten(1).gather(1, at)
    best = (looked_at + before.gather(1, at // v)).topk(k)  # b k
    at = at.gather(1, best.indices)
    return LargestSums(best.values, looked_at.gather(1, best.indices), at % v, at // v)


def of_all_beams(new: Tensor, columns: Tensor, before: Tensor, k: int) -> LargestSums:
    """The k largest sums of those that are best for each beam, b w m."""
    sums = (new + before[:, :, None]).flatten(1)  # b w·m
    best = sums.topk(min(k, sums.shape[1]))
    new, columns = (x.flatten(1).gather(1, best.indices) for x in (new, columns))
    return LargestSums(best.values, new, columns, best.indices // (sums.shape[1] // before.shape[1]))


def _group_maxima(x: Float[Tensor, "n groups*32"]) -> Float[Tensor, "n groups"]:
    """The maximum of each group of every groups-th number: the larger of both halves, until a half is all groups."""
    groups = x.shape[1] // GROUP
    while x.shape[1] > groups:
        x = torch.maximum(*x.chunk(2, 1))
    return x


def log_softmax_(logits: Float[Tensor, "b v"]) -> Float[Tensor, "b v"]:
    """Log-probabilities; on a CPU they take the place of the logits.

    A second tensor of that size does not fit into the cache beside the first: writing it takes longer than the rest.
    """
    if logits.device.type != "cpu" or not logits.is_contiguous() or observed():  # an observer may keep the logits
        return logits.log_softmax(1)
    return torch.log_softmax(logits, 1, out=logits)


def check_finite(x: Tensor) -> Tensor:
    """Returns x; raises if any of its numbers is NaN or infinite."""
    wrong = x.numel() - int(x.isfinite().sum())
    if wrong:
        raise not_finite(x, wrong)
    return x


def some_not_finite(x: Tensor) -> Tensor:
    """Whether any number is NaN or infinite: 0·x is then NaN, which counts as true, and else 0.

    Two launches where `isfinite` and its negation take six: a search asks at every step, and waits for its host.
    """
    return (x * 0.0).any()


def not_finite(x: Tensor, wrong: int) -> InputError:
    return InputError("output_not_finite", count=f"{wrong:,}", total=f"{x.numel():,}", dtype=_name(x.dtype))


def comparable(logits: Tensor, is_wrong: LaggingAnswer | None = None) -> Tensor:
    """Returns logits, b v, whose rows have a largest entry: −∞ is allowed, NaN and ∞ raise.

    With a question that is asked at every step, an accelerator is not waited for: it raises some steps later.
    """
    if (is_wrong or LaggingAnswer()).ask(some_not_finite(logits.amax(1))):
        raise not_finite(logits, max(1, logits.numel() - int(logits.isfinite().sum())))
    return logits


def accumulated(logits: Tensor, is_wrong: LaggingAnswer | None = None) -> Tensor:
    """Logits in the type that scores are summed in: float32 for smaller ones. Raises if they are not finite."""
    return comparable(logits if logits.dtype == torch.float64 else logits.float(), is_wrong)


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
