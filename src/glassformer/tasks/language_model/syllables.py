"""Tokens as they come → text as it comes: no character is shown before all of it is there, and no stop text at all."""

from __future__ import annotations

from collections.abc import Sequence

from glassformer.errors import ConfigError
from glassformer.text import Tokenizer
from glassformer.text.normalisation import normalise

CONTEXT = 5  # tokens before the new ones: some decoders write a piece by what stands before it
CUT = "\ufffd"  # what decoding puts in the place of half a character


class Syllables:
    """A Hangul syllable is three bytes, and a token may end after the first: what is unfinished waits for the next.

    The texts that are handed over, one behind the other, are what the tokenizer makes of all tokens at once.
    """

    def __init__(self, tokenizer: Tokenizer, prompt: Sequence[int]) -> None:
        self.tokenizer, self.ids = tokenizer, list(prompt)
        self.begin, self.done = max(0, len(self.ids) - CONTEXT), len(self.ids)

    def add(self, token: int) -> str:
        """The text that is whole by now, often that of this token alone; a row that no piece belongs to is nothing."""
        if token >= self.tokenizer.vocab_size:
            return ""
        self.ids.append(token)
        text = self.rest()
        if text.endswith(CUT):
            return ""
        self.begin, self.done = self.done, len(self.ids)
        return text

    def rest(self) -> str:
        """What waits, as it is."""
        before = self.tokenizer.decode(self.ids[self.begin : self.done])
        return self.tokenizer.decode(self.ids[self.begin :])[len(before) :]


class Stops:
    """Text up to the first of some stop texts. What may be the beginning of one is held back until that is known."""

    def __init__(self, stops: Sequence[str]) -> None:
        self.stops = [normalise(stop) for stop in stops]
        if not all(self.stops):
            raise ConfigError("stop_empty")
        self.held, self.met = "", False

    def add(self, text: str) -> str:
        """What can be shown now; `met` says whether a stop text has come."""
        text = self.held + text
        places = [place for stop in self.stops if (place := text.find(stop)) >= 0]
        self.met = bool(places)
        if places:
            self.held = ""
            return text[: min(places)]
        keep = max((k for stop in self.stops for k in range(1, len(stop)) if text.endswith(stop[:k])), default=0)
        self.held = text[len(text) - keep :]
        return text[: len(text) - keep]
