"""What a search may produce: which tokens end it, which are never or always produced, and how many at most."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from glassformer.config.values import size
from glassformer.decoding.step import Decodable, DecodingStart, check_token, decodable
from glassformer.errors import InputError

BEYOND_SOURCE = 50
FREE = -1


@dataclass(frozen=True)
class Limits:
    """The tokens that end a sentence, those that are forbidden, and `max_len` (None: see `longest`).

    `first` is what every sentence begins with, though it be forbidden elsewhere (BART: bos); `last` is what it ends
    with where it has grown to its longest (BART, Marian: eos). Nothing ends before `min_len` new tokens are there.
    """

    ends: tuple[int, ...]
    forbidden: Tensor | None  # on the device of the model
    max_len: int | None
    first: int | None = None
    last: int | None = None
    min_len: int = 0

    @classmethod
    def of(
        cls,
        vocab_size: int,
        eos: int | Collection[int] | None,
        forbidden: Collection[int],
        max_len: int | None,
        device: torch.device,
        first: int | None = None,
        last: int | None = None,
        min_len: int = 0,
    ) -> Limits:
        """The same, checked against the vocabulary."""
        ends = () if eos is None else (eos,) if isinstance(eos, int) else tuple(eos)
        ends = tuple(dict.fromkeys(check_token("eos", token, vocab_size) for token in ends))
        never = sorted({check_token("forbidden", token, vocab_size) for token in forbidden})
        if len(never) == vocab_size:
            raise InputError("generate_all_forbidden", vocab_size=vocab_size)
        indices = torch.tensor(never, device=device) if never else None
        for key, token in (("first", first), ("last", last)):
            if token is not None:
                check_token(key, token, vocab_size)
        longest = None if max_len is None else size("max_len", max_len)
        return cls(ends, indices, longest, first, last, size("min_len", min_len, 0))

    def longest(self, start: DecodingStart) -> list[int]:
        """How many tokens each sentence may get: `max_len`, or by default its source's length + 50 (§6.1).

        The default never exceeds the model's table of positions; a `max_len` that does is refused. It is a number of
        each sentence, not of the batch: whatever stands beside it, a sentence comes out the same.
        """
        if self.max_len is None:
            longest = [length + BEYOND_SOURCE for length in start.lengths]
            return longest if start.room is None else [min(pair) for pair in zip(longest, start.room, strict=True)]
        if start.room is not None and self.max_len > min(start.room):
            raise InputError("generate_too_long", max_len=self.max_len, most=min(start.room))
        return [self.max_len] * len(start.lengths)

    def ended(self, tokens: Tensor) -> Tensor:
        """Which tokens end their sentence."""
        ended = torch.zeros_like(tokens, dtype=torch.bool)
        for end in self.ends:
            ended |= tokens == end
        return ended

    def forced(self, before: int, longest: Tensor) -> Tensor | None:
        """What each sentence must say after `before` tokens, b: a token, or FREE. None: nobody must say anything."""
        if self.last is None:
            return None if self.first is None or before else torch.full_like(longest, self.first)
        free = FREE if self.first is None or before else self.first
        return torch.where(longest == before + 1, self.last, free)

    def forbid(self, scores: Tensor, before: int) -> Tensor:
        """−∞ for what is forbidden after `before` new tokens, b v."""
        return scores if self.forbidden is None and before >= self.min_len else self.forbid_(scores.clone(), before)

    def forbid_(self, scores: Tensor, before: int) -> Tensor:
        """The same in place."""
        if self.forbidden is not None:
            scores.index_fill_(1, self.forbidden, float("-inf"))
        if before < self.min_len and self.ends:
            scores[:, list(self.ends)] = float("-inf")
        return scores


def prepare(
    model: nn.Module,
    source: Tensor,
    *,
    bos: int | None,
    eos: int | Collection[int] | None,
    forbidden: Collection[int],
    max_len: int | None,
    first: int | None = None,
    last: int | None = None,
    min_len: int = 0,
) -> tuple[Decodable, Limits]:
    """What every decoder starts with: the way to decode the model and the limits, checked."""
    if not isinstance(source, Tensor):
        raise InputError("tokens_shape", shape="–", dtype=type(source).__name__)
    way = decodable(model, bos)
    return way, Limits.of(way.vocab_size, eos, forbidden, max_len, source.device, first, last, min_len)
