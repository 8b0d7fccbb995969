"""The limits of a search: which tokens end it, which are forbidden or forced, and how many there may be."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import reduce

import torch
from torch import Tensor, nn

from glassformer.config.values import size
from glassformer.decoding.step import Decodable, DecodingStart, as_decodable, check_token
from glassformer.errors import InputError

BEYOND_SOURCE = 50
FREE = -1


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a search may write: how a sentence begins and ends, what it never contains, how long it gets.

    `bos` starts the target of an encoder-decoder. `eos` (one token, several, or None for never) ends a sentence, but
    not before it has `min_len` new tokens. It gets at most `max_len` of them; by default as many as the source has
    and 50 more, as in §6.1. `forbidden` tokens (padding, the beginning) are never produced.
    `first` is forced as the first new token even if it is forbidden (BART: bos), `last` as the last one of a sentence
    that has reached its maximum length (BART, Marian: eos); both have probability 1.
    """

    eos: int | Collection[int] | None
    bos: int | None = None
    max_len: int | None = None
    min_len: int = 0
    forbidden: Collection[int] = ()
    first: int | None = None
    last: int | None = None

    def checked(self, vocab_size: int, device: torch.device) -> CheckedLimits:
        """These limits for one model: every token must be in its vocabulary."""
        ends = () if self.eos is None else (self.eos,) if isinstance(self.eos, int) else tuple(self.eos)
        ends = tuple(dict.fromkeys(check_token("eos", token, vocab_size) for token in ends))
        never = sorted({check_token("forbidden", token, vocab_size) for token in self.forbidden})
        if len(never) == vocab_size:
            raise InputError("generate_all_forbidden", vocab_size=vocab_size)
        indices = torch.tensor(never, device=device) if never else None
        for key, token in (("first", self.first), ("last", self.last)):
            if token is not None:
                check_token(key, token, vocab_size)
        longest = None if self.max_len is None else size("max_len", self.max_len)
        return CheckedLimits(ends, indices, longest, size("min_len", self.min_len, 0), self.first, self.last)


@dataclass(frozen=True)
class CheckedLimits:
    """`Limits` that were checked, in the form that every step of a search needs."""

    ends: tuple[int, ...]
    forbidden: Tensor | None  # on the device of the model
    max_len: int | None
    min_len: int
    first: int | None
    last: int | None

    def longest(self, start: DecodingStart) -> list[int]:
        """How many tokens each sentence may get: `max_len`, or by default its source's length + 50 (§6.1).

        The default never exceeds the model's table of positions; a `max_len` that does is refused. Each sentence
        has its own, so that its result does not depend on what else is in the batch.
        """
        if self.max_len is None:
            longest = [length + BEYOND_SOURCE for length in start.lengths]
            return longest if start.room is None else [min(pair) for pair in zip(longest, start.room, strict=True)]
        if start.room is not None and self.max_len > min(start.room):
            raise InputError("generate_too_long", max_len=self.max_len, most=min(start.room))
        return [self.max_len] * len(start.lengths)

    def ended(self, tokens: Tensor) -> Tensor:
        """Which tokens end their sentence."""
        found = [tokens == end for end in self.ends]
        return reduce(torch.logical_or, found) if found else torch.zeros_like(tokens, dtype=torch.bool)

    def forced(self, before: int, longest: Tensor) -> Tensor | None:
        """The token forced on each sentence after `before` tokens, b, or FREE. None: nothing is forced."""
        if self.last is None:
            return None if self.first is None or before else torch.full_like(longest, self.first)
        free = FREE if self.first is None or before else self.first
        return torch.where(longest == before + 1, self.last, free)

    def forbid(self, scores: Tensor, before: int) -> Tensor:
        """The scores, b v, with −∞ for tokens forbidden after `before` new ones."""
        return scores if self.forbidden is None and before >= self.min_len else self.forbid_(scores.clone(), before)

    def forbid_(self, scores: Tensor, before: int) -> Tensor:
        """The same in place."""
        if self.forbidden is not None:
            scores.index_fill_(1, self.forbidden, float("-inf"))
        if before < self.min_len and self.ends:
            scores[:, list(self.ends)] = float("-inf")
        return scores

    def forbids(self, v: int, before: int, device: torch.device) -> Tensor | None:
        """Which of v tokens are forbidden after `before` new ones, v; None: none of them."""
        if self.forbidden is None and (before >= self.min_len or not self.ends):
            return None
        return self.forbid_(torch.zeros(1, v, device=device), before)[0] < 0.0


def prepare(model: nn.Module, source: Tensor, limits: Limits) -> tuple[Decodable, CheckedLimits]:
    """What every decoder starts with: how to decode this model, and the checked limits."""
    if not isinstance(source, Tensor):
        raise InputError("tokens_shape", shape="–", dtype=type(source).__name__)
    decodable = as_decodable(model, limits.bos)
    return decodable, limits.checked(decodable.vocab_size, source.device)
