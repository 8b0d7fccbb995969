"""Pieces of a text with their ids and the characters they cover: what the page draws below a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from glassformer.loading import Loaded
from glassformer.text import Tokenizer
from glassformer.text.normalisation import normalise


@dataclass(frozen=True)
class Piece:
    """One token: as a person reads it, its id, and the characters it covers; None: it covers none."""

    piece: str
    id: int | None
    span: tuple[int, int] | None = None
    special: bool = False

    def to_json(self) -> dict[str, Any]:
        span = None if self.span is None else list(self.span)
        return {"piece": self.piece, "id": self.id, "span": span, "special": self.special}


def pieces_of(tokenizer: Tokenizer, ids: Sequence[int], text: str, covered: Sequence[int] | None = None) -> list[Piece]:
    """The pieces of framed ids; `text` is what was encoded, `covered` the places of its own pieces among the ids.

    Without `covered` the ids of the text are looked for inside the frame.
    """
    spans = tokenizer.spans(text) if text else []
    if covered is None:
        covered = _inside(list(ids), tokenizer.encode(text) if text else [])
    by_place = dict(zip(covered, spans, strict=False))
    special = set(tokenizer.specials.ids().values()) - {tokenizer.specials.unk}
    return [Piece(_name(tokenizer, token), token, by_place.get(at), token in special) for at, token in enumerate(ids)]


def plain_pieces(names: Sequence[str]) -> list[Piece]:
    """Positions that are no tokens of a vocabulary: patches, queries."""
    return [Piece(name, None) for name in names]


def spelled(loaded: Loaded, text: str) -> str:
    """A text as its spans count: prepared as in training, and composed (NFC)."""
    return normalise(loaded.prepare(text))


def _name(tokenizer: Tokenizer, token: int) -> str:
    return tokenizer.piece(token) if token < tokenizer.vocab_size else f"#{token}"


def _inside(ids: list[int], inner: list[int]) -> range:
    """Where the ids of the text lie in those of its frame."""
    for first in range(len(ids) - len(inner) + 1):
        if ids[first : first + len(inner)] == inner:
            return range(first, first + len(inner))
    return range(0)
