"""The same inputs for our model and its reference: whole batches, single texts, padding right and left, step by step.

A question is a pair of functions, one for each model; outputs are compared at real tokens only.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from glassformer.config.model import ModelConfig

LENGTHS, TARGETS = (13, 9, 4, 1), (5, 11, 1, 8)  # lengths of the padded sentences
ALONE = (1, 7, 23)  # and of those without padding
LOWEST, HIGHEST = 3, 57  # no reference has a special token among these ids

Ask = Callable[[Any], Tensor]  # a model → its output
Question = tuple[Ask, Ask]  # for ours, for the reference


class Tokens(NamedTuple):
    """A batch of sentences, and which of its tokens are real."""

    ids: Tensor  # b t
    real: Tensor  # b t

    @property
    def places(self) -> Tensor:
        """Positions as `generate` passes them: only real tokens count."""
        return (self.real.long().cumsum(1) - 1).clamp(min=0)  # b t

    def row(self, i: int) -> Tokens:
        """One sentence without its padding."""
        ids = self.ids[i][self.real[i]][None]  # 1 t
        return Tokens(ids, torch.ones_like(ids, dtype=torch.bool))


def batch(lengths: tuple[int, ...], *, pad: int = 0, left: bool = False, seed: int = 0) -> Tokens:
    """Random sentences of these lengths, padded on the right or left."""
    real = torch.arange(max(lengths))[None] < torch.tensor(lengths)[:, None]  # b t
    real = real.flip(1) if left else real
    ids = torch.randint(LOWEST, HIGHEST, real.shape, generator=torch.Generator().manual_seed(seed))
    return Tokens(ids.masked_fill(~real, pad), real)


def questions(config: ModelConfig, *, pad: int, by_length: bool) -> dict[str, list[Question]]:
    """All cases that fit a model. `by_length`: as in `ReferenceVariant`; the reference then runs step by step too."""
    if config.input.kind != "tokens":
        return _pictures(config)
    make = partial(batch, pad=pad)
    if config.family == "encoder":
        return _reading(make, segments=config.segments, pooled=without_classes(config))
    if config.family == "decoder":
        return _continuation(make, by_length=by_length)
    return _translation(make)


def without_classes(config: ModelConfig) -> bool:
    """Whether the head is a pooler without a classifier, as in models that return features."""
    return config.head.kind == "classifier" and not config.head.options.get("classes")


def answered(output: Any) -> Tensor:
    """Logits, or the last vectors of a model without a head."""
    answer: Tensor = output.get("logits", output.get("last_hidden_state"))
    return answer


def at_real(answer: Tensor, real: Tensor) -> Tensor:
    """The outputs at real tokens, flattened; one output for the whole sentence stays as it is."""
    return answer[real] if answer.dim() == 3 else answer  # n x | b x


# --- an encoder alone: BERT, T5's encoder ---


def _reading(make: Callable[..., Tokens], *, segments: int, pooled: bool) -> dict[str, list[Question]]:
    def given(tokens: Tokens) -> list[Tensor]:
        """The ids, and a segment for each: a function of the id, so the same in any batch."""
        return [tokens.ids, tokens.ids % segments] if segments > 1 else [tokens.ids]

    def ours(model: Any, tokens: Tokens) -> Tensor:
        if pooled:
            return at_real(model.encoder(model.embedding(*given(tokens)), real=tokens.real), tokens.real)
        return at_real(model(tokens.ids, tokens.real, *given(tokens)[1:]), tokens.real)

    def theirs(model: Any, tokens: Tokens, key: str = "") -> Tensor:
        more = dict(zip(("input_ids", "token_type_ids"), given(tokens), strict=False))
        output = model(attention_mask=tokens.real.long(), **more)
        return output[key] if key else at_real(answered(output), tokens.real)

    def one_by_one(model: Any, tokens: Tokens) -> Tensor:
        return torch.cat([theirs(model, tokens.row(i)) for i in range(len(tokens.ids))])

    alone = [make((length,), seed=length) for length in ALONE]
    whole, right, left = make((13, 13, 13)), make(LENGTHS), make(LENGTHS, left=True)
    cases: dict[str, list[Question]] = {
        "whole": [(partial(ours, tokens=each), partial(theirs, tokens=each)) for each in (whole, *alone)],
        "right": [(partial(ours, tokens=right), partial(theirs, tokens=right))],
        "left": [(partial(ours, tokens=left), partial(one_by_one, tokens=left))],
    }
    if pooled:

        def pool(model: Any) -> Tensor:
            answer: Tensor = model(right.ids, right.real, *given(right)[1:])
            return answer

        cases["right"].append((pool, partial(theirs, tokens=right, key="pooler_output")))
    return cases


# --- a decoder alone: GPT-2, LLaMA ---


def _continuation(make: Callable[..., Tokens], *, by_length: bool) -> dict[str, list[Question]]:
    def ours(model: Any, tokens: Tokens) -> Tensor:
        return at_real(model(tokens.ids, tokens.real), tokens.real)

    def theirs(model: Any, tokens: Tokens) -> Tensor:
        if by_length:
            model(tokens.ids[:, :1])  # a short text resets the cached angles of longer ones
        output = model(tokens.ids, attention_mask=tokens.real.long(), position_ids=tokens.places, use_cache=False)
        return at_real(answered(output), tokens.real)

    def our_steps(model: Any, tokens: Tokens) -> Tensor:
        cache, steps = model.decoder.empty_cache(), range(tokens.ids.shape[1])
        seen = [model(tokens.ids[:, i : i + 1], tokens.real[:, : i + 1], cache=cache) for i in steps]  # b 1 v
        return at_real(torch.cat(seen, 1), tokens.real)

    def their_steps(model: Any, tokens: Tokens) -> Tensor:
        past, seen = None, []
        for i in range(tokens.ids.shape[1]):
            here = slice(i, i + 1)
            mask, places = tokens.real[:, : i + 1].long(), tokens.places[:, here]
            output = model(tokens.ids[:, here], attention_mask=mask, position_ids=places, past_key_values=past)
            past = output.past_key_values
            seen.append(answered(output))
        return at_real(torch.cat(seen, 1), tokens.real)

    alone = [make((length,), seed=length) for length in ALONE]
    whole, right, left = make((13, 13, 13)), make(LENGTHS), make(LENGTHS, left=True)
    expected = their_steps if by_length else theirs
    return {
        "whole": [(partial(ours, tokens=given), partial(theirs, tokens=given)) for given in (whole, *alone)],
        "right": [(partial(ours, tokens=right), partial(theirs, tokens=right))],
        "left": [(partial(ours, tokens=left), partial(theirs, tokens=left))],
        "steps": [(partial(our_steps, tokens=given), partial(expected, tokens=given)) for given in (whole, left)],
    }


# --- both: T5, BART, Marian, Pegasus ---


class Both(NamedTuple):
    """A source and its target."""

    source: Tokens
    target: Tokens

    def row(self, i: int) -> Both:
        return Both(self.source.row(i), self.target.row(i))


def _translation(make: Callable[..., Tokens]) -> dict[str, list[Question]]:
    def ours(model: Any, pair: Both) -> Tensor:
        source, target = pair
        return at_real(model(source.ids, target.ids, source.real, target.real), target.real)

    def theirs(model: Any, pair: Both) -> Tensor:
        source, target = pair
        output = model(
            input_ids=source.ids,
            attention_mask=source.real.long(),
            decoder_input_ids=target.ids,
            decoder_attention_mask=target.real.long(),
            use_cache=False,
        )
        return at_real(answered(output), target.real)

    def one_by_one(model: Any, pair: Both) -> Tensor:
        return torch.cat([theirs(model, pair.row(i)) for i in range(len(pair.source.ids))])

    def our_steps(model: Any, pair: Both) -> Tensor:
        source, target = pair
        memory, cache = model.encode(source.ids, source.real), model.decoder.empty_cache()
        seen = [
            model.decode(target.ids[:, i : i + 1], memory, None, source.real, cache=cache)
            for i in range(target.ids.shape[1])
        ]
        return at_real(torch.cat(seen, 1), target.real)

    alone = [Both(make((length,), seed=length), make((24 - length,), seed=9)) for length in ALONE]
    whole = Both(make((13, 13, 13)), make((9, 9, 9), seed=1))
    right = Both(make(LENGTHS), make(TARGETS, seed=1))
    left = Both(make(LENGTHS, left=True), make(TARGETS, left=True, seed=1))
    return {
        "whole": [(partial(ours, pair=given), partial(theirs, pair=given)) for given in (whole, *alone)],
        "right": [(partial(ours, pair=right), partial(theirs, pair=right))],
        "left": [(partial(ours, pair=left), partial(one_by_one, pair=left))],
        "steps": [(partial(our_steps, pair=given), partial(theirs, pair=given)) for given in (whole, right)],
    }


# --- pictures: ViT, DeiT ---


def _pictures(config: ModelConfig) -> dict[str, list[Question]]:
    random, side = torch.Generator().manual_seed(0), config.input.options["size"]
    size = (config.input.options.get("channels", 3), side, side)
    given = [torch.randn(b, *size, generator=random, dtype=torch.float64) for b in (3, 1)]

    def ours(model: Any, pixels: Tensor) -> Tensor:
        answer: Tensor = model(pixels.to(next(model.parameters()).dtype))
        return answer

    def body(model: Any, pixels: Tensor) -> Tensor:
        answer: Tensor = model.encoder(model.embedding(pixels.to(next(model.parameters()).dtype)))
        return answer

    def theirs(model: Any, pixels: Tensor, key: str) -> Tensor:
        answer: Tensor = model(pixel_values=pixels.to(model.dtype))[key]
        return answer

    asked = [(body, "last_hidden_state"), (ours, "pooler_output")]
    if not without_classes(config):
        asked = [(ours, "last_hidden_state" if config.head.kind == "none" else "logits")]
    pairs = [(ask, key, pixels) for ask, key in asked for pixels in given]
    return {"whole": [(partial(ask, pixels=x), partial(theirs, pixels=x, key=key)) for ask, key, x in pairs]}
