"""A line on stderr for a text with words that the model has never read; the words, for whoever reads JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from glassformer.errors import warn

if TYPE_CHECKING:
    from glassformer.loading import Loaded

SHOWN = 8  # words of a text; the rest are counted


def unseen(loaded: Loaded, answered: Sequence[tuple[str, object]]) -> list[list[str]]:
    """Of each text its unseen words; one warning a text, however many they are. One without an answer warns of none."""
    found = loaded.unseen(["" if answer is None else text for text, answer in answered])
    for words in found:
        if words:
            more = f" (+{len(words) - SHOWN})" if len(words) > SHOWN else ""
            warn("unseen_words", words=", ".join(words[:SHOWN]) + more)
    return found
