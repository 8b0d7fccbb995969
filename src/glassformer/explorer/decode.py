"""The decoding lab: the next token's bars under every filter, many samples, and a beam tree that grows step by step.

All of it by `glassformer.decoding`: the page draws what the search does, and computes nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from glassformer.config.values import one_of
from glassformer.decoding import Beams, Hypothesis, Limits, Sampling, sample
from glassformer.decoding.beam import BeamSearch
from glassformer.decoding.limits import FREE, CheckedLimits, prepare
from glassformer.decoding.rules import accumulated
from glassformer.decoding.step import Decodable, DecodingStart, evaluating
from glassformer.decoding.tree import FATES
from glassformer.errors import InputError
from glassformer.explorer import fields
from glassformer.explorer.answers import piece_name
from glassformer.explorer.fields import Fields
from glassformer.explorer.greedy import translation_limits
from glassformer.explorer.inputs import most_positions, told_to_the_page
from glassformer.loading import Loaded
from glassformer.tasks.language_model.write import Pen, Writing, beginning
from glassformer.tasks.text_inputs import text_ids

KINDS = ("next", "sample", "beam")
SAMPLING = ("temperature", "top_k", "top_p")
REQUEST_KEYS = ("model", "checkpoint", "input", "kind", "prefix", *SAMPLING, "n", "seed", "width", "alpha", "max_len")
BARS = 24
MOST_SAMPLES, WIDEST, LONGEST = 64, 16, 128

Record = dict[str, Any]
Use = Callable[[], AbstractContextManager[Loaded]]


def decode(use: Use, request: Fields) -> Iterator[Record]:
    """What a request asks for, record by record. The model is held only while one is computed."""
    kind = one_of("kind", fields.text(request, "kind"), KINDS)
    for read in (sampling_of, draws_of, beams_of):  # what another kind would read has its rules all the same
        read(request)
    with use() as loaded:
        question = SearchRequest.of(loaded, request)
        going = MAKERS[kind](question, request)
    while True:
        with use():
            record = next(going, None)
        if record is None:
            return
        yield record


@dataclass(frozen=True)
class SearchRequest:
    """What is decoded: the source or the prompt, what may be written, and the tokens that are written already."""

    loaded: Loaded
    source: Tensor  # 1 s
    limits: Limits
    prefix: list[int]

    @classmethod
    def of(cls, loaded: Loaded, request: Fields) -> SearchRequest:
        """Raises for a model that writes no text."""
        given = fields.table("input", request.get("input", {}))
        longest = fields.whole(request, "max_len", 1, LONGEST) or 64
        text = fields.text(given, "text")
        if loaded.task == "translation":
            if not text.strip():
                raise InputError("empty_text")
            with told_to_the_page():
                ids = text_ids(loaded, text, longest=most_positions(loaded)).tokens
            limits = translation_limits(loaded)
        elif loaded.task == "language_model":
            ids = beginning(loaded, text)
            limits = Pen(loaded, text, Writing(tokens=longest)).limits()
        else:
            raise InputError("explorer_decode", task=loaded.task)
        longest = min(longest, limits.max_len or longest)
        made = Limits(**{**vars(limits), "max_len": longest, "min_len": min(limits.min_len, longest)})
        prefix = fields.wholes(request, "prefix") or []
        if len(prefix) >= longest:
            raise InputError("explorer_too_long", length=len(prefix) + 1, most=longest)
        return cls(loaded, torch.tensor([ids], device=loaded.device), made, prefix)

    def begun(self) -> tuple[Decodable, CheckedLimits, DecodingStart, float]:
        """The search after the prefix: its start, and the log-probability of what is written already."""
        decodable, checked = prepare(self.loaded.model, self.source, self.limits)
        start, total = decodable.start(self.source, None), 0.0
        limit, tokens = torch.tensor(checked.longest(start)), start.tokens
        for before, token in enumerate(self.prefix):
            if token in checked.ends:
                raise InputError("explorer_prefix_end", token=token)
            if token >= decodable.vocab_size:
                raise InputError("explorer_index", key="prefix", value=token, last=decodable.vocab_size - 1)
            logs = accumulated(decodable.step(tokens, start.state)).log_softmax(1)  # 1 v
            must = checked.forced(before, limit)
            total += 0.0 if must is not None and int(must[0]) != FREE else float(logs[0, token])
            tokens = torch.full_like(tokens, token)
        return decodable, checked, DecodingStart(tokens, start.state, start.lengths, start.room), total

    def pieces(self, tokens: list[int]) -> list[str]:
        return [piece_name(self.loaded.vocabularies.target, token) for token in tokens]

    def text(self, tokens: list[int]) -> str:
        tokenizer = self.loaded.vocabularies.target
        return tokenizer.decode([token for token in tokens if token < tokenizer.vocab_size])


# --- the next token ---


def sampling_of(request: Fields) -> Sampling:
    """The filters of a request; a missing one is left out."""
    temperature, top_p = request.get("temperature"), request.get("top_p")
    return Sampling(
        temperature=1.0 if temperature is None else fields.number("temperature", temperature),
        top_k=fields.whole(request, "top_k", 1),
        top_p=None if top_p is None else fields.number("top_p", top_p),
    )


def next_bars(question: SearchRequest, request: Fields) -> Iterator[Record]:
    """The likeliest next tokens: the model's own probability, and what temperature, top-k and top-p make of it."""
    sampling = sampling_of(request)
    with torch.inference_mode(), evaluating(question.loaded.model):
        decodable, checked, start, total = question.begun()
        logits = accumulated(decodable.step(start.tokens, start.state))  # 1 v
        allowed = checked.forbid(logits, len(question.prefix))
        own, filtered = logits.softmax(1)[0], sampling.filtered(allowed).softmax(1)[0]  # v
    best = own.topk(min(BARS, len(own))).indices.tolist()
    entropy = -(filtered * filtered.clamp(min=torch.finfo(filtered.dtype).tiny).log()).sum()
    yield {
        "kind": "next",
        "prefix": question.pieces(question.prefix),
        "text": question.text(question.prefix),
        "log_probability": total,
        "bars": [
            {
                "id": token,
                "piece": piece_name(question.loaded.vocabularies.target, token),
                "logit": float(logits[0, token]),
                "p": float(own[token]),
                "drawn": float(filtered[token]),
                "ends": token in checked.ends,
            }
            for token in best
        ],
        "kept": int((filtered > 0).sum()),
        "of": len(own),
        "entropy": float(entropy),
    }


# --- samples ---


def draws_of(request: Fields) -> tuple[int, int]:
    """How many, and the seed of the first."""
    return fields.whole(request, "n", 1, MOST_SAMPLES) or 8, fields.whole(request, "seed", 0, 1 << 30) or 0


def samples(question: SearchRequest, request: Fields) -> Iterator[Record]:
    """Several texts, drawn one after the other; the seed of the i-th is `seed + i`."""
    sampling, (count, seed) = sampling_of(request), draws_of(request)
    if question.prefix:
        raise InputError(
            "explorer_unknown_key", key="prefix", known=", ".join(key for key in REQUEST_KEYS if key != "prefix")
        )
    for number in range(count):
        ((drawn,),) = sample(
            question.loaded.model, question.source, limits=question.limits, sampling=sampling, seed=seed + number
        )
        yield {"kind": "sample", "number": number, "seed": seed + number, **_written(question, drawn, [])}
    yield {"kind": "end"}


# --- the beam tree ---


def beams_of(request: Fields) -> Beams:
    alpha = request.get("alpha")
    width = fields.whole(request, "width", 1, WIDEST) or 4
    return Beams(width=width, alpha=0.6 if alpha is None else fields.number("alpha", alpha))


def beam(question: SearchRequest, request: Fields) -> Iterator[Record]:
    """The tree, one step to a record: every candidate with its parent and its fate; then the best texts.

    With a prefix, the search begins behind it, with its log-probability: so a pruned branch lives on.
    """
    beams = beams_of(request)
    search, length = _begin(question, beams), len(question.prefix) + 1
    before = 0
    while True:
        tokens = _advance(search, length)
        yield {"kind": "step", "step": length, "nodes": _nodes(question, search, before, length)}
        before = search.growth.size
        if tokens is None:
            break
        _step(question, search, tokens)
        length += 1
    (found,), ((_, nodes),) = search.best(beams.width), search.found(beams.width)
    best = [{"node": node, **_written(question, one, question.prefix)} for one, node in zip(found, nodes, strict=True)]
    yield {"kind": "end", "best": best, "alpha": beams.alpha, "width": beams.width}


@torch.inference_mode()
def _begin(question: SearchRequest, beams: Beams) -> BeamSearch:
    with evaluating(question.loaded.model):
        decodable, checked, start, total = question.begun()
        search = BeamSearch(decodable, start, checked, beams, record=True)
    search.sums = search.sums + total
    return search


@torch.inference_mode()
def _advance(search: BeamSearch, length: int) -> Tensor | None:
    return search.advance(length)


@torch.inference_mode()
def _step(question: SearchRequest, search: BeamSearch, tokens: Tensor) -> None:
    with evaluating(question.loaded.model):
        search.logits = search.model.step(tokens, search.state)  # w v


def _nodes(question: SearchRequest, search: BeamSearch, before: int, length: int) -> list[Record]:
    """The candidates of the last step, the best first."""
    last, (_, fates) = search.growth.steps[-1], search.growth.fates[-1]
    norm = search.rules.norm(length)
    rows = zip(
        last.tokens[0].tolist(),
        last.parents[0].tolist(),
        last.log_probabilities[0].tolist(),
        last.cumulative[0].tolist(),
        fates[0].tolist(),
        strict=True,
    )
    return [
        {
            "number": before + i,
            "token": token,
            "piece": piece_name(question.loaded.vocabularies.target, token),
            "parent": parent,
            "log_probability": log,
            "cumulative": total,
            "score": total / norm,
            "fate": FATES[fate],
        }
        for i, (token, parent, log, total, fate) in enumerate(rows)
        if total > float("-inf")
    ]


def _written(question: SearchRequest, one: Hypothesis, before: list[int]) -> Record:
    tokens = [*before, *one.tokens]
    return {
        "ids": tokens,
        "pieces": question.pieces(tokens),
        "text": question.text(tokens),
        "log_probability": one.log_probability,
        "score": one.score,
        "finished": one.finished,
    }


MAKERS: dict[str, Callable[[SearchRequest, Fields], Iterator[Record]]] = {
    "next": next_bars,
    "sample": samples,
    "beam": beam,
}
