"""Write: go on with a text, token by token, as GPT does; greedily, drawn, or by beam search."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import torch
from rich.text import Text

from glassformer.data.moses import prepared_side
from glassformer.errors import ConfigError, InputError
from glassformer.evaluate.produced import end_ids, forbidden_ids, forbidden_roles
from glassformer.evaluate.syllables import Stops, Syllables
from glassformer.evaluate.verbs import check_verb
from glassformer.generate import Sampling, beam_search, stream
from glassformer.generate.step import table_size
from glassformer.models.decoder import DecoderOnly
from glassformer.open import Loaded
from glassformer.values import size

TOKENS = 100  # where nobody says how many


@dataclass(frozen=True, kw_only=True)
class Writing:
    """How to go on: greedily; with `sampling` drawn, the same each time with a `seed`; with `beam` > 1 by beam search.

    At most `tokens` new ones (None: 100, or as many as the model has places for), up to its end or a `stop` text.
    """

    tokens: int | None = None
    sampling: Sampling | None = None
    seed: int | None = None
    beam: int = 1
    stop: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.tokens is not None:
            size("tokens", self.tokens)
        if size("beam", self.beam) > 1 and self.sampling is not None:
            raise ConfigError("beam_and_sampling", beam=self.beam)


@dataclass(frozen=True)
class Written:
    """A text and how it goes on. `ended`: by "eos", by a "stop" text, by "length", or not at all: "interrupted"."""

    prompt: str
    text: str
    tokens: int
    ended: str

    def __str__(self) -> str:
        return self.prompt + self.text

    def __rich__(self) -> Text:
        return Text(self.prompt, style="bold").append(self.text, style="not bold")


class Pen:
    """One continuation: iterate for its text as it comes; `written` is what there is so far."""

    def __init__(self, loaded: Loaded, prompt: str, writing: Writing) -> None:
        check_verb(loaded, "generate")
        self.loaded, self.prompt, self.writing = loaded, prompt, writing
        self.ids = beginning(loaded, prompt)
        self.most = most(loaded, len(self.ids), writing.tokens)
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
        model, source = self.loaded.model, torch.tensor([self.ids], device=self.loaded.device)  # 1 s
        limits = self._limits()
        if self.writing.beam > 1:
            ((best,),) = beam_search(model, source, beam=self.writing.beam, **limits)
            yield from best.tokens
            return
        steps = stream(model, source, sampling=self.writing.sampling, seed=self.writing.seed, **limits)
        yield from (token for (token,) in steps if token is not None)

    def _limits(self) -> dict[str, Any]:
        specials, options = self.loaded.tokenizer.specials, self.loaded.config.task.options
        ends = end_ids(options)  # several, for some imported models
        forbidden = forbidden_ids(specials, forbidden_roles(options), ends)
        return {"eos": ends or specials.eos, "forbidden": forbidden, "max_len": self.most}


def write(loaded: Loaded, prompt: str = "", writing: Writing = Writing()) -> Written:  # noqa: B008
    """The prompt and how it goes on; an empty one is begun with the token that begins or ends a text."""
    pen = Pen(loaded, prompt, writing)
    for _ in pen:
        pass
    return pen.written


def beginning(loaded: Loaded, prompt: str) -> list[int]:
    """The ids that the model goes on from: begun as it learned, and not ended."""
    data = loaded.config.data
    ids = [*loaded.frame.front, *loaded.tokenizer.encode(prepared_side(data.prepare, data.source_language)(prompt))]
    if ids:
        return ids
    specials = loaded.tokenizer.specials.ids()
    for role in ("bos", "eos"):
        if role in specials:
            return [specials[role]]
    raise InputError("nothing_to_begin_with", model=loaded.folder.name)


def most(loaded: Loaded, length: int, tokens: int | None) -> int:
    """How many tokens there may be behind a prompt of this length."""
    assert isinstance(loaded.model, DecoderOnly)  # what the task "language_model" is trained with
    places = table_size(loaded.model.decoder)
    if places is None:
        return tokens or TOKENS
    room = places - length + 1  # the last token is never read again
    if room < 1:
        raise InputError("too_long", length=length, max_len=places)
    if tokens is not None and tokens > room:
        raise InputError("write_too_long", tokens=tokens, length=length, room=room)
    return tokens or min(TOKENS, room)


def drawn(
    temperature: float | None = None, top_k: int | None = None, top_p: float | None = None, seed: int | None = None
) -> Sampling | None:
    """As people say it: whoever names one of these wants tokens to be drawn; a temperature of 0 is greedy."""
    if temperature == 0 or (temperature is None and top_k is None and top_p is None and seed is None):
        return None
    return Sampling(temperature=1.0 if temperature is None else temperature, top_k=top_k, top_p=top_p)
