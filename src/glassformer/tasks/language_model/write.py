"""Write: continue a text, token by token, as GPT does; greedily, by sampling, or by beam search."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np
import torch
from rich.text import Text

from glassformer.config.values import size
from glassformer.data.batch import pad
from glassformer.decoding import Beams, Limits, Sampling, beam_search, greedy, stream_tokens
from glassformer.errors import ConfigError, InputError
from glassformer.hub.generation import GenerationDefaults, read_generation
from glassformer.layers.position import table_size
from glassformer.loading import Loaded
from glassformer.models.decoder import DecoderOnly
from glassformer.tasks.language_model.syllables import Stops, Syllables
from glassformer.tasks.output_ids import first_said, forbidden_and_ends, forbidden_ids, say_unheeded
from glassformer.tasks.task import AT_ONCE
from glassformer.tasks.verbs import check_verb
from glassformer.text.frame import encode_typed
from glassformer.text.normalisation import normalise

TOKENS = 100  # by default


@dataclass(frozen=True, kw_only=True)
class Writing:
    """How to continue a text: greedily; with `sampling`, reproducibly with a `seed`; with `beam` > 1 by beam search.

    At most `tokens` new ones (None: 100, or as many as the model has positions for), up to eos or a `stop` text.
    `defaults` are those of the model's makers; the three after it are for beams. `truncate` cuts off the beginning of a
    prompt that is too long; with `special_tokens`, "</s>" in a prompt means that token.
    """

    tokens: int | None = None
    sampling: Sampling | None = None
    seed: int | None = None
    beam: int = 1
    stop: tuple[str, ...] = ()
    defaults: GenerationDefaults = GenerationDefaults()
    length_norm: str = "gnmt"
    length_penalty: float = 0.6
    early: str = "bound"
    truncate: bool = False
    special_tokens: bool = False

    def __post_init__(self) -> None:
        if self.tokens is not None:
            size("tokens", self.tokens)
        if size("beam", self.beam) > 1 and self.sampling is not None:
            raise ConfigError("beam_and_sampling", beam=self.beam)

    @property
    def beams(self) -> Beams:
        return Beams(width=self.beam, length_norm=self.length_norm, alpha=self.length_penalty, stop=self.early)


@dataclass(frozen=True)
class Prompt:
    """What a model continues: the text as shown, and its ids."""

    text: str
    ids: list[int]


@dataclass(frozen=True)
class Written:
    """A text and its continuation. `ended`: by "eos", by a "stop" text, by "length", or not at all: "interrupted"."""

    prompt: str
    text: str
    tokens: int
    ended: str

    def __str__(self) -> str:
        return self.prompt + self.text

    def __rich__(self) -> Text:
        return Text(self.prompt, style="bold").append(self.text, style="not bold")


class Pen:
    """One continuation: iterate to get its text as it is written; `written` holds the result so far."""

    def __init__(self, loaded: Loaded, prompt: str | Prompt, writing: Writing) -> None:
        check_verb(loaded, "generate")
        if not isinstance(prompt, Prompt):
            prompt = Prompt(prompt, beginning(loaded, prompt, special_tokens=writing.special_tokens))
        self.loaded, self.prompt, self.writing = loaded, prompt.text, writing
        self.ids = fitted(loaded, prompt.ids, writing)
        self.most = most(loaded, len(self.ids), writing.tokens, writing.defaults)
        self.found: Sequence[int] | None = None  # the tokens, if a batch has found them already
        self.syllables, self.stops = Syllables(loaded.tokenizer, self.ids), Stops(writing.stop)
        self.text, self.tokens, self.ended = "", 0, "interrupted"

    @property
    def written(self) -> Written:
        return Written(self.prompt, self.text, self.tokens, self.ended)

    def __iter__(self) -> Iterator[str]:
        with closing(self._tokens()) as tokens:
            for token in tokens:
                self.tokens += 1
                yield from self._show(self.syllables.add(token))
                if self.stops.met:
                    self.ended = "stop"
                    return
        yield from self._show(self.syllables.rest())
        if not self.stops.met:
            yield from self._show(self.stops.held, whole=True)
        self.ended = "stop" if self.stops.met else "length" if self.tokens == self.most else "eos"

    def _show(self, text: str, whole: bool = False) -> Iterator[str]:
        shown = text if whole else self.stops.add(text)
        if shown:
            self.text += shown
            yield shown

    def _tokens(self) -> Generator[int, None, None]:
        if self.found is not None:
            yield from self.found
            return
        model, source = self.loaded.model, torch.tensor([self.ids], device=self.loaded.device)  # 1 s
        limits = self.limits()
        if self.writing.beam > 1:
            ((best,),) = beam_search(model, source, limits=limits, beams=self.writing.beams)
            yield from best.tokens
            return
        steps = stream_tokens(model, source, limits=limits, sampling=self.writing.sampling, seed=self.writing.seed)
        yield from (token for (token,) in steps if token is not None)

    def limits(self) -> Limits:
        specials, defaults = self.loaded.tokenizer.specials, self.writing.defaults
        roles, ends = forbidden_and_ends(self.loaded.config.task.options)  # some imported models have several ends
        forbidden = forbidden_ids(specials, roles, ends)
        forbidden += [token for token in defaults.suppressed if token not in (ends or (specials.eos,))]
        fewest = min(defaults.fewest(len(self.ids)), self.most)
        return Limits(eos=ends or specials.eos, max_len=self.most, min_len=fewest, forbidden=forbidden)


def writing_for(
    loaded: Loaded,
    *,
    tokens: int | None = None,
    temperature: float | None = None,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int | None = None,
    beam: int | None = None,
    stop: str | Sequence[str] = (),
    truncate: bool = False,
    special_tokens: bool = False,
) -> Writing:
    """How to write, as the caller asks; the rest as the model's makers say, else greedy."""
    defaults = read_generation(loaded.foreign)
    say_unheeded(defaults)
    sampling = drawn(temperature, top_k, top_p, seed)
    if defaults.draw and beam is None and temperature != 0:
        sampling = Sampling(
            temperature=first_said(temperature, defaults.temperature, 1.0),
            top_k=defaults.top_k if top_k is None else top_k,
            top_p=defaults.top_p if top_p is None else top_p,
            min_p=defaults.min_p,
        )
    theirs = beam is None and sampling is None and temperature != 0 and (defaults.beam or 1) > 1
    return Writing(
        tokens=tokens,
        sampling=sampling,
        seed=seed,
        beam=first_said(beam, defaults.beam if theirs else None, 1),
        stop=(stop,) if isinstance(stop, str) else tuple(stop),
        defaults=defaults,
        length_norm="power" if theirs else "gnmt",
        length_penalty=first_said(defaults.length_penalty, 1.0) if theirs else 0.6,
        early=first_said(defaults.stop if theirs else None, "bound"),
        truncate=truncate,
        special_tokens=special_tokens,
    )


def write_all(loaded: Loaded, prompts: Sequence[str | Prompt], writing: Writing) -> list[Written]:
    """Continue several prompts in a batch, padded on the left, each as it would be continued alone.

    Prompts that may get the same number of tokens share a batch. Sampled texts are written one after the other, because
    each uses the random numbers of its seed.
    """
    pens = [Pen(loaded, prompt, writing) for prompt in prompts]
    groups: dict[tuple[int, int], list[Pen]] = {}
    for pen in pens if writing.sampling is None else []:
        groups.setdefault((pen.most, pen.limits().min_len), []).append(pen)
    for group in groups.values():
        for first in range(0, len(group), AT_ONCE):
            some = group[first : first + AT_ONCE]
            for pen, tokens in zip(some, _together(loaded, some, writing), strict=True):
                pen.found = tokens
    for pen in pens:
        for _ in pen:
            pass
    return [pen.written for pen in pens]


def _together(loaded: Loaded, pens: Sequence[Pen], writing: Writing) -> list[list[int]]:
    rows = [np.array(pen.ids, dtype=np.int32) for pen in pens]
    tokens, real = pad(rows, loaded.tokenizer.specials.ids().get("pad", 0))
    mask = None if real.all() else torch.from_numpy(real).to(loaded.device)
    source, limits = tokens.to(loaded.device), pens[0].limits()
    if writing.beam > 1:
        found = beam_search(loaded.model, source, mask, limits=limits, beams=writing.beams)
    else:
        found = greedy(loaded.model, source, mask, limits=limits)
    return [best.tokens for best, *_ in found]


def write(loaded: Loaded, prompt: str | Prompt = "", writing: Writing = Writing()) -> Written:  # noqa: B008
    """The prompt and its continuation; an empty prompt starts from the token that begins or ends a text."""
    pen = Pen(loaded, prompt, writing)
    for _ in pen:
        pass
    return pen.written


def beginning(loaded: Loaded, prompt: str, *, special_tokens: bool = False) -> list[int]:
    """The ids that the model continues: with the beginning of its frame, but not the end."""
    text = loaded.prepare(normalise(prompt))
    ids = loaded.frame.begun(encode_typed(loaded.tokenizer, text) if special_tokens else loaded.tokenizer.encode(text))
    if ids:
        return ids
    specials = loaded.tokenizer.specials.ids()
    for role in ("bos", "eos"):
        if role in specials:
            return [specials[role]]
    raise InputError("nothing_to_begin_with", model=loaded.folder.name)


def fitted(loaded: Loaded, ids: list[int], writing: Writing) -> list[int]:
    """The prompt; with `truncate`, only as much of its end as fits, after the token that begins a text."""
    assert isinstance(loaded.model, DecoderOnly)
    positions, begin = table_size(loaded.model.decoder.positions), list(loaded.frame.front)
    if positions is None or not writing.truncate:
        return ids
    kept = max(positions + 1 - (writing.tokens or 1), 1)
    if len(ids) <= kept:
        return ids
    head = begin if ids[: len(begin)] == begin and len(begin) < kept else []
    return [*head, *ids[len(ids) - kept + len(head) :]]


def most(loaded: Loaded, length: int, tokens: int | None, defaults: GenerationDefaults = GenerationDefaults()) -> int:  # noqa: B008
    """How many tokens may follow a prompt of this length."""
    assert isinstance(loaded.model, DecoderOnly)  # the task "language_model" has no other
    places = table_size(loaded.model.decoder.positions)
    usual = first_said(defaults.longest(length), TOKENS)
    if places is None:
        return tokens or usual
    room = places - length + 1  # the last token is never fed to the model
    if room < 1:
        raise InputError("too_long", length=length, max_len=places)
    if tokens is not None and tokens > room:
        raise InputError("write_too_long", tokens=tokens, length=length, room=room)
    return tokens or min(usual, room)


def drawn(
    temperature: float | None = None, top_k: int | None = None, top_p: float | None = None, seed: int | None = None
) -> Sampling | None:
    """Sampling if any of these is given; a temperature of 0 is greedy."""
    if temperature == 0 or (temperature is None and top_k is None and top_p is None and seed is None):
        return None
    return Sampling(temperature=1.0 if temperature is None else temperature, top_k=top_k, top_p=top_p)
