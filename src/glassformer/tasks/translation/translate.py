"""Translate: sentences in, sentences out, many at a time, in the given order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
import torch
from torch import nn

from glassformer.config.options import complete
from glassformer.config.recipe import RunConfig
from glassformer.data.batch import pad
from glassformer.decoding import Beams, Hypothesis, Limits, beam_search, greedy
from glassformer.decoding.side_by_side import side_by_side
from glassformer.decoding.step import evaluating
from glassformer.errors import ConfigError
from glassformer.layers.position import table_size
from glassformer.loading import Loaded
from glassformer.models.encoder_decoder import EncoderDecoder
from glassformer.tasks.output_ids import forbidden_ids, spelled_ids
from glassformer.tasks.search import SearchOptions
from glassformer.tasks.text_inputs import every_text, position_limit
from glassformer.tasks.translation.task import OPTIONS
from glassformer.tasks.verbs import check_verb
from glassformer.text import Frame, Tokenizer, Vocabularies
from glassformer.text.frame import roles
from glassformer.text.tokenizer import Specials


@dataclass(frozen=True)
class Translated:
    """One candidate: the text, its score (as the search ranks it) and its log-probability."""

    text: str
    score: float
    log_probability: float


def as_trained(search: SearchOptions, config: RunConfig) -> SearchOptions:
    """The same search with sources framed, and targets begun, as in training."""
    chosen = complete("task", config.task, OPTIONS)
    begin, end = roles(config)
    return replace(
        search,
        begin=begin,
        end=end,
        start=chosen["start"],
        first=chosen["first"] or "none",
        last=chosen["last"] or "none",
        forbidden=chosen["forbidden"],
        ends=chosen["ends"],
    )


def translate(loaded: Loaded, texts: str | Sequence[str], search: SearchOptions = SearchOptions()) -> list[str]:  # noqa: B008
    """The best translation of each sentence."""
    return [best.text for best, *_ in translations(loaded, texts, replace(search, n_best=1))]


def translations(loaded: Loaded, texts: str | Sequence[str], search: SearchOptions) -> list[list[Translated]]:
    """The `n_best` translations of each sentence."""
    check_verb(loaded, "translate")
    every = [*map(loaded.prepare, every_text(texts))]  # translations are not prepared: they stay as learned
    return candidates(
        loaded.model, loaded.vocabularies, every, as_trained(search, loaded.config), position_limit(loaded)
    )


def candidates(
    model: nn.Module, vocabularies: Vocabularies, texts: Sequence[str], search: SearchOptions, most: int | None = None
) -> list[list[Translated]]:
    """The `n_best` translations of each sentence, in the given order; sentences of similar length share a batch.

    `most`: the most positions of a source; raises for a longer one, or with `search.truncate` cuts off its end.
    """
    if not isinstance(model, EncoderDecoder):
        raise ConfigError("task_family", task="translation", family="encoder-decoder")
    source = vocabularies.source
    frame = Frame.named(search.begin, search.end, source.specials)
    encoded = [frame.fit(tokens, most, truncate=search.truncate) for tokens in source.encode_batch(list(texts))]
    found: list[list[Translated]] = [[Translated("", 0.0, 0.0)] for _ in texts]
    order = sorted((i for i, tokens in enumerate(encoded) if tokens), key=lambda i: len(encoded[i]))
    chunks = [*_chunks(order, search.batch)]
    with evaluating(model):
        hypotheses = side_by_side(
            lambda some: _search(model, vocabularies, frame, [encoded[i] for i in some], search),
            chunks,
            next(model.parameters()).device,
        )
    for i, best in zip(chain.from_iterable(chunks), chain.from_iterable(hypotheses), strict=True):
        found[i] = [Translated(_text(vocabularies.target, one), one.score, one.log_probability) for one in best]
    return found


def _text(target: Tokenizer, hypothesis: Hypothesis) -> str:
    return target.decode(spelled_ids(target, hypothesis.tokens))


def _search(
    model: EncoderDecoder,
    vocabularies: Vocabularies,
    frame: Frame,
    sources: Sequence[Sequence[int]],
    search: SearchOptions,
) -> list[list[Hypothesis]]:
    """The hypotheses of each of these sources, which are put into their frame here."""
    source, target = vocabularies.source.specials, vocabularies.target.specials
    device = next(model.parameters()).device
    plain = [np.array(tokens, dtype=np.int32) for tokens in sources]
    tokens, real = pad(plain, source.ids().get("pad", 0), frame)
    mask = None if real.all() else torch.from_numpy(real).to(device)
    ends = search.ends or (target.need("eos"),)
    limits = Limits(
        eos=ends,
        bos=target.need(search.start),
        max_len=_room(model, search.max_len),
        min_len=search.min_len,
        forbidden={*forbidden_ids(target, search.forbidden, search.ends), *search.suppressed} - set(ends),
        first=_one(target, search.first),
        last=_one(target, search.last),
    )
    if search.beam == 1 and search.n_best == 1:
        return greedy(model, tokens.to(device), mask, limits=limits)
    beams = Beams(width=search.beam, length_norm=search.length_norm, alpha=search.alpha, stop=search.stop)
    return beam_search(model, tokens.to(device), mask, limits=limits, beams=beams, n_best=search.n_best)


def _room(model: EncoderDecoder, wanted: int | None) -> int | None:
    """The wanted length, at most the number of the decoder's positions."""
    places = table_size(model.decoder.positions)
    return wanted if wanted is None or places is None else min(wanted, places)


def _one(specials: Specials, role: str) -> int | None:
    return None if role == "none" else specials.need(role)


def _chunks(order: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    return (order[i : i + size] for i in range(0, len(order), size))
