"""The best next words of a search and their log-probabilities: the equation as written, and reading the logits once."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from glassformer.decoding.lagging import LAG, LaggingAnswer
from glassformer.decoding.limits import FREE, CheckedLimits
from glassformer.decoding.rules import (
    LargestSums,
    accumulated,
    largest,
    largest_sums,
    log_softmax_,
    not_finite,
    of_all_beams,
    some_not_finite,
)
from glassformer.kernels import usable

NEVER = float("-inf")
MOST = 64  # words that the kernel looks for: each costs it a reduction in every part of a row


class NextWords:
    """The `most` best words after each row of logits, as the limits allow, and the check that logits are finite."""

    def __init__(self, checked: CheckedLimits, most: int) -> None:
        self.checked, self.most = checked, most
        self._is_wrong = LaggingAnswer(LAG)
        self._never: dict[bool, Tensor | None] = {}  # by whether a sentence may end

    def best(
        self, logits: Float[Tensor, "n v"], before: int, must: Int[Tensor, " n"] | None
    ) -> tuple[Float[Tensor, "n m"], Int[Tensor, "n m"]]:
        """Log-probabilities and tokens after `before` new ones, the best first; `must` forces a token (or is FREE)."""
        m = min(self.most, logits.shape[1])
        if must is None and m <= MOST and usable(logits):
            return self._read_once(logits, m, before)
        return largest(self._log_probabilities(logits, before, must), m)  # n m

    def best_of_beams(
        self, logits: Float[Tensor, "n v"], sums: Float[Tensor, "b w"], before: int, must: Int[Tensor, " n"] | None
    ) -> LargestSums:
        """The best words after all w beams of a text, b m, by the sums of their log-probabilities; n is b·w."""
        m = min(self.most, logits.shape[1])
        if must is None and m <= MOST and usable(logits):
            logs, tokens = (x.view(*sums.shape, -1) for x in self._read_once(logits, m, before))  # b w m
            return of_all_beams(logs, tokens, sums, self.most)
        return largest_sums(self._log_probabilities(logits, before, must).view(*sums.shape, -1), sums, self.most)

    def _log_probabilities(self, logits: Tensor, before: int, must: Tensor | None) -> Tensor:
        logs = self.checked.forbid_(log_softmax_(accumulated(logits, self._is_wrong)), before)  # n v
        return logs if must is None else certain(logs, must)

    def _read_once(self, logits: Tensor, m: int, before: int) -> tuple[Tensor, Tensor]:
        """The same in a kernel."""
        from glassformer.kernels.best_of_row import best_of_row

        may_end = before >= self.checked.min_len
        if may_end not in self._never:
            self._never[may_end] = self.checked.forbids(logits.shape[1], before, logits.device)
        found = best_of_row(logits, m, self._never[may_end])
        if self._is_wrong.ask(some_not_finite(found.log_sums)):
            raise self._error(logits)
        return found.values, found.positions

    def settle(self, logits: Tensor) -> None:
        """Raises if any logits were not finite and nobody has noticed yet; `logits` are the last."""
        if self._is_wrong.settle():
            raise self._error(logits)

    @staticmethod
    def _error(logits: Tensor) -> Exception:
        return not_finite(logits, max(1, logits.numel() - int(logits.isfinite().sum())))


def certain(logs: Tensor, must: Tensor) -> Tensor:
    """Log-probabilities, n v, in which a forced token has probability 1."""
    only = torch.full_like(logs, NEVER).scatter(1, must.clamp(min=0)[:, None], 0.0)  # n v
    return torch.where((must == FREE)[:, None], logs, only)
