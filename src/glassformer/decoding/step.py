"""What can be decoded, and how: one start and one step, for both halves of Figure 1 and for the decoder alone.

Between two steps there is a `State`; the result is a list of `Hypothesis` for each sentence.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn

from glassformer.decoding.captured import in_slots
from glassformer.decoding.state import State
from glassformer.errors import InputError, shown
from glassformer.kernels.linear import packed_weights
from glassformer.layers.attention.mask import as_allowed
from glassformer.layers.embedding import TokenEmbedding, token_matrix
from glassformer.layers.head import LanguageModelHead
from glassformer.layers.position import table_size
from glassformer.models.decoder import DecoderOnly
from glassformer.models.encoder_decoder import EncoderDecoder


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


@dataclass(frozen=True)
class DecodingStart:
    """Everything before the first new token."""

    tokens: Tensor  # b 1: what the first step is given
    state: State
    lengths: list[int]  # real tokens of each source
    room: list[int] | None  # number of tokens that fit after each source; None: no table of positions

    def repeated(self, n: int) -> DecodingStart:
        """Each sentence n times in a row."""
        if n == 1:
            return self
        rows = torch.arange(self.tokens.shape[0], device=self.tokens.device).repeat_interleave(n)  # b·n
        lengths = [length for length in self.lengths for _ in range(n)]
        room = None if self.room is None else [left for left in self.room for _ in range(n)]
        return DecodingStart(self.tokens[rows], self.state.repeated(rows), lengths, room)


class Decodable(Protocol):
    """Everything that a search needs to know about a model."""

    @property
    def vocab_size(self) -> int: ...

    def start(self, source: Tensor, mask: Tensor | None) -> DecodingStart: ...

    def step(self, tokens: Tensor, state: State) -> Tensor:
        """The last tokens, b w → logits of the next ones, b·w v; w is 1 without branches. The cache grows."""


@dataclass(frozen=True)
class DecodableEncoderDecoder:
    """Encoder and decoder: the source becomes memory once, the target starts from `bos`."""

    model: EncoderDecoder
    vocab_size: int
    bos: int

    def start(self, source: Tensor, mask: Tensor | None) -> DecodingStart:
        mask = padding_of(source, mask)
        memory = self.model.encode(source, mask)  # b s d_model
        b, s, _ = memory.shape
        lengths = [s] * b if mask is None else mask.sum(1).tolist()
        room = table_size(self.model.decoder.positions)
        tokens = torch.full((b, 1), self.bos, device=memory.device)  # b 1
        state = State(self.model.decoder.empty_cache(), memory=memory, memory_mask=mask)
        return DecodingStart(tokens, state, lengths, None if room is None else [room] * b)

    def step(self, tokens: Tensor, state: State) -> Tensor:
        def decode(tokens: Tensor, state: State) -> Tensor:
            assert state.memory is not None
            logits = self.model.decode(
                tokens, state.memory, state.mask, state.memory_mask, branches=state.branches, cache=state.cache
            )  # b w v
            return logits.flatten(0, 1)

        return in_slots(self.model, self.model.decoder, decode, tokens, state)  # b·w v


@dataclass(frozen=True)
class DecodableDecoder:
    """A decoder alone: the prompt fills the cache in one pass, and its last token starts the new ones."""

    model: DecoderOnly
    vocab_size: int

    def start(self, source: Tensor, mask: Tensor | None) -> DecodingStart:
        source, mask, lengths = align_right(source, padding_of(source, mask))
        cache, room = self.model.decoder.empty_cache(), table_size(self.model.decoder.positions)
        if room is not None and max(lengths) > room:
            raise InputError("too_long", length=max(lengths), max_len=room)
        if source.shape[1] > 1:
            past = None if mask is None else mask[:, :-1]
            self.model.decoder(self.model.embedding(source[:, :-1]), real=past, cache=cache)
        # The last token of the prompt has position length - 1, and the last new one is never fed to the model.
        left = None if room is None else [room - length + 1 for length in lengths]
        return DecodingStart(source[:, -1:], State(cache, mask=None if mask is None else mask[:, :-1]), lengths, left)

    def step(self, tokens: Tensor, state: State) -> Tensor:
        def decode(tokens: Tensor, state: State) -> Tensor:
            return self.model(tokens, state.mask, branches=state.branches, cache=state.cache).flatten(0, 1)

        if state.mask is not None and state.places is None:
            state.mask = torch.cat([state.mask, state.mask.new_ones(tokens.shape)], 1)  # b s+1
        return in_slots(self.model, self.model.decoder, decode, tokens, state)  # b·w v


def as_decodable(model: nn.Module, bos: int | None) -> Decodable:
    """How to decode this model; raises if it cannot be decoded, and says why."""
    if isinstance(model, EncoderDecoder | DecoderOnly) and isinstance(model.head, LanguageModelHead):
        target = model.embedding
        if isinstance(model, EncoderDecoder) and model.target_embedding is not None:
            target = model.target_embedding
        weight = token_matrix(target) if model.head.weight is None else model.head.weight
        if isinstance(target, TokenEmbedding) and weight is not None:
            if isinstance(model, DecoderOnly):
                return DecodableDecoder(model, weight.shape[0])
            if bos is None:
                raise InputError("generate_bos_missing")
            return DecodableEncoderDecoder(model, weight.shape[0], check_token("bos", bos, weight.shape[0]))
    raise InputError("generate_model", model=type(model).__name__)


def check_token(key: str, token: object, vocab_size: int) -> int:
    if isinstance(token, bool) or not isinstance(token, int) or not 0 <= token < vocab_size:
        raise InputError("generate_token", key=key, token=shown(token), last=vocab_size - 1)
    return token


def padding_of(source: Tensor, mask: Tensor | None) -> Tensor | None:
    """The mask b s if anything is padding; None lets the kernels take their fast path."""
    if mask is None:
        return None
    b, s = source.shape[:2]
    as_allowed(None, mask, b, 1, s)
    if mask.shape != (b, s):
        raise InputError("generate_mask", shape=tuple(mask.shape), batch=b, length=s)
    return None if bool(mask.all()) else mask


def align_right(source: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor | None, list[int]]:
    """Shift prompts so that all end in the same column, wherever their padding was; returns the mask and lengths too.

    New tokens then follow without a gap, which would disturb relative positions and windows.
    """
    if source.dim() != 2:
        raise InputError("tokens_shape", shape=tuple(source.shape), dtype=str(source.dtype).removeprefix("torch."))
    if source.shape[1] == 0:
        raise InputError("generate_prompt_empty", row=0)
    if mask is None:
        return source, None, [source.shape[1]] * source.shape[0]
    lengths: list[int] = mask.sum(1).tolist()
    if not all(lengths):
        raise InputError("generate_prompt_empty", row=lengths.index(0))
    order = mask.long().argsort(dim=1, stable=True)[:, -max(lengths) :]  # b s: padding first
    mask = mask.gather(1, order)
    return source.gather(1, order), None if bool(mask.all()) else mask, lengths


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Inside, the model is in evaluation mode and keeps its weights; then every module is in its old mode."""
    with evaluation_mode(model), packed_weights():
        yield


@contextmanager
def evaluation_mode(model: nn.Module) -> Iterator[None]:
    """Inside, the model is in evaluation mode; then every module is in its old mode."""
    training = [module for module in model.modules() if module.training]
    try:
        for module in training:
            module.training = False
        yield
    finally:
        for module in training:
            module.training = True
