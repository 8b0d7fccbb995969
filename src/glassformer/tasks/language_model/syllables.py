"""A stream of tokens → a stream of text: no character is shown before it is complete, and a stop text never."""

from __future__ import annotations

from collections.abc import Sequence

from glassformer.errors import ConfigError
from glassformer.text import Tokenizer
from glassformer.text.normalisation import normalise

CONTEXT = 5  # tokens before the new ones: in some decoders a piece depends on those before it
CUT = "\ufffd"  # what decoding gives for an incomplete character


class Syllables:
    """Text from tokens, one at a time. A Hangul syllable is three bytes, and a token may end after the first: it waits.

    The texts that it returns, concatenated, are what the tokenizer makes of all tokens at once.
    """

    def __init__(self, tokenizer: Tokenizer, prompt: Sequence[int]) -> None:
        self.tokenizer, self.ids = tokenizer, list(prompt)
        self.begin, self.done = max(0, len(self.ids) - CONTEXT), len(self.ids)

    def add(self, token: int) -> str:
        """The text that is now complete, often of this token alone; "" for a row without a piece."""
        if token >= self.tokenizer.vocab_size:
            return ""
        self.ids.append(token)
        text = self.rest()
        if text.endswith(CUT):
            return ""
        self.begin, self.done = self.done, len(self.ids)
        return text

    def rest(self) -> str:
        """The text that still waits, complete or not."""
        before = self.tokenizer.decode(self.ids[self.begin : self.done])
        return self.tokenizer.decode(self.ids[self.begin :])[len(before) :]


class Stops:
    """Text up to the first stop text. What could be the beginning of one is held back until it is clear."""

    def __init__(self, stops: Sequence[str]) -> None:
        self.stops = [normalise(stop) for stop in stops]
        if not all(self.stops):
            raise ConfigError("stop_empty")
        self.held, self.met = "", False

    def add(self, text: str) -> str:
        """The text that can be shown now; `met` says whether a stop text has come."""
        text = self.held + text
        places = [place for stop in self.stops if (place := text.find(stop)) >= 0]
        self.met = bool(places)
        if places:
            self.held = ""
            return text[: min(places)]
        keep = max((k for stop in self.stops for k in range(1, len(stop)) if text.endswith(stop[:k])), default=0)
        self.held = text[len(text) - keep :]
        return text[: len(text) - keep]
