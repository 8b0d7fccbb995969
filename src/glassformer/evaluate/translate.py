"""Translate: sentences in, sentences out, many at a time and in the order in which they came."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import nn

from glassformer.data.batch import pad
from glassformer.data.moses import prepared_side
from glassformer.errors import ConfigError
from glassformer.evaluate.produced import end_ids, forbidden_ids, forbidden_roles, spelled_ids
from glassformer.evaluate.verbs import check_verb
from glassformer.generate import Hypothesis, beam_search, greedy
from glassformer.models.encoder_decoder import EncoderDecoder
from glassformer.open import Loaded
from glassformer.recipe import RunConfig
from glassformer.text import Frame, Tokenizer, Vocabularies
from glassformer.text.frame import roles
from glassformer.text.special import ROLES, Specials
from glassformer.values import one_of


@dataclass(frozen=True, kw_only=True)
class Search:
    """How to look for a translation: beam 1 is greedy; the rest is as in `beam_search`.

    The second half says how the model was trained, by roles of special tokens, see `as_trained`: what stands before a
    source and behind it, what the target starts from, which token is forced as its first and which where it has grown
    too long, what is never produced (None: every special token but eos), and the ids that end it (None: eos).
    """

    beam: int = 4
    length_norm: str = "gnmt"
    alpha: float = 0.6
    stop: str = "bound"
    n_best: int = 1
    max_len: int | None = None
    batch: int = 64
    begin: str = "none"
    end: str = "eos"
    start: str = "bos"
    first: str = "none"
    last: str = "none"
    forbidden: tuple[str, ...] | None = None
    ends: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Translated:
    """One candidate: the text, its score (as the search ranks it) and its log-probability."""

    text: str
    score: float
    log_probability: float


GREEDY = Search(beam=1)


def as_trained(search: Search, config: RunConfig) -> Search:
    """The same search on sources that look as they did in training, with targets that begin as they did."""
    options, known = config.task.options, ("none", *ROLES)
    begin, end = roles(config)
    return replace(
        search,
        begin=begin,
        end=end,
        start=one_of("task.start", options.get("start", "bos"), ROLES),
        first=one_of("task.first", options.get("first", "none"), known),
        last=one_of("task.last", options.get("last", "none"), known),
        forbidden=forbidden_roles(options),
        ends=end_ids(options),
    )


def sources(loaded: Loaded, texts: Sequence[str]) -> list[str]:
    """Texts as a person types them → as the model learned to read them. What it answers stays as it was learned."""
    data = loaded.config.data
    change = prepared_side(data.prepare, data.source_language)
    return [change(text) for text in texts]


def translate(loaded: Loaded, texts: str | Sequence[str], search: Search = Search()) -> list[str]:  # noqa: B008
    """The best translation of each sentence."""
    check_verb(loaded, "translate")
    every = sources(loaded, [texts] if isinstance(texts, str) else texts)
    found = candidates(loaded.model, loaded.vocabularies, every, as_trained(replace(search, n_best=1), loaded.config))
    return [best.text for best, *_ in found]


def candidates(
    model: nn.Module, vocabularies: Vocabularies, texts: Sequence[str], search: Search
) -> list[list[Translated]]:
    """The `n_best` translations of each sentence, in its order; sentences of like length are searched together."""
    if not isinstance(model, EncoderDecoder):
        raise ConfigError("task_family", task="translation", family="encoder-decoder")
    encoded = vocabularies.source.encode_batch(list(texts))
    found: list[list[Translated]] = [[Translated("", 0.0, 0.0)] for _ in texts]
    order = sorted((i for i, tokens in enumerate(encoded) if tokens), key=lambda i: len(encoded[i]))
    for some in _chunks(order, search.batch):
        for i, hypotheses in zip(some, _search(model, vocabularies, [encoded[i] for i in some], search), strict=True):
            found[i] = [
                Translated(_text(vocabularies.target, one), one.score, one.log_probability) for one in hypotheses
            ]
    return found


def _text(target: Tokenizer, hypothesis: Hypothesis) -> str:
    return target.decode(spelled_ids(target, hypothesis.tokens))


def _search(
    model: EncoderDecoder, vocabularies: Vocabularies, sources: Sequence[Sequence[int]], search: Search
) -> list[list[Hypothesis]]:
    source, target = vocabularies.source.specials, vocabularies.target.specials
    device = next(model.parameters()).device
    frame = Frame.named(search.begin, search.end, source)
    plain = [np.array(tokens, dtype=np.int32) for tokens in sources]
    tokens, real = pad(plain, source.ids().get("pad", 0), frame)
    mask = None if real.all() else torch.from_numpy(real).to(device)
    limits: dict[str, Any] = {
        "bos": target.need(search.start),
        "eos": search.ends or target.need("eos"),
        "forbidden": forbidden_ids(target, search.forbidden, search.ends),
        "first": _one(target, search.first),
        "last": _one(target, search.last),
        "max_len": search.max_len,
    }
    if search.beam == 1 and search.n_best == 1:
        return greedy(model, tokens.to(device), mask, **limits)
    return beam_search(
        model,
        tokens.to(device),
        mask,
        beam=search.beam,
        length_norm=search.length_norm,
        alpha=search.alpha,
        stop=search.stop,
        n_best=search.n_best,
        **limits,
    )


def _one(specials: Specials, role: str) -> int | None:
    return None if role == "none" else specials.need(role)


def _chunks(order: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    return (order[i : i + size] for i in range(0, len(order), size))
