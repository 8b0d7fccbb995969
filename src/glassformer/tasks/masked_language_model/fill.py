"""Fill: the words that fit into the gaps of a text, each with its probability. What BERT was trained for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from glassformer.config.values import size
from glassformer.decoding.rules import check_finite
from glassformer.decoding.step import evaluating
from glassformer.errors import InputError, shown
from glassformer.loading import Loaded
from glassformer.tasks.text_inputs import position_limit
from glassformer.tasks.verbs import Answers, check_verb
from glassformer.text import Tokenizer
from glassformer.text.normalisation import normalise
from glassformer.text.tokenizer import FOREIGN, holds_blanks

GAP = "_{3,}"  # ___ works too, whatever the mask of the tokenizer is called


@dataclass(frozen=True)
class Candidate:
    """A piece that may fill the gap, and the text with it; other gaps stay open."""

    word: str
    probability: float
    text: str
    token: int


@dataclass(frozen=True)
class Filled:
    """One gap, counted from 1, and what fits into it, the best first."""

    mask: int
    candidates: tuple[Candidate, ...]

    columns: ClassVar[tuple[str, ...]] = ("mask", "word", "probability", "text")

    def lines(self) -> list[list[str]]:
        return [[str(self.mask), one.word, f"{one.probability:.4f}", one.text] for one in self.candidates]

    def to_json(self) -> dict[str, Any]:
        return {"mask": self.mask, "candidates": [vars(one) for one in self.candidates]}


@torch.inference_mode()
def fill(loaded: Loaded, text: str, top: int = 5, *, truncate: bool = False) -> Answers[Filled]:
    """The `top` most probable words for each gap, each gap by itself: p(word | the text).

    A gap is the mask as the tokenizer spells it, [MASK], <mask>, or ___. Special tokens are left out;
    the probabilities of the others are not renormalised. With `truncate` the end of a text that is too long is cut
    off, but never a gap.
    """
    check_verb(loaded, "fill")
    size("top", top)
    tokenizer = loaded.tokenizer
    mask, parts = tokenizer.specials.need("mask"), split_at_gaps(tokenizer, normalise(text))
    if len(parts) == 1:
        raise InputError("no_mask", text=shown(text), mask=tokenizer.piece(mask))
    ids = _framed(loaded, with_masks(loaded, parts[::2], mask), mask, truncate)
    with evaluating(loaded.model):
        logits = loaded.model(torch.tensor([ids], device=loaded.device))[0]  # t v
    at = [place for place, token in enumerate(ids) if token == mask]
    shares = check_finite(logits[at].float()).softmax(1).cpu()  # masks v
    return Answers(
        Filled(number + 1, _candidates(tokenizer, parts, number, row, top)) for number, row in enumerate(shares)
    )


def _framed(loaded: Loaded, ids: list[int], mask: int, truncate: bool) -> list[int]:
    """The ids in the frame of training; a text that is too long is cut, but no gap is lost."""
    frame, most = loaded.frame, position_limit(loaded)
    kept = frame.fit(ids, most, truncate=truncate)
    if kept.count(mask) != ids.count(mask):
        raise InputError("mask_cut", length=len(ids) + frame.extra, most=most)
    return frame.around(kept)


def split_at_gaps(tokenizer: Tokenizer, text: str) -> list[str]:
    """Text, gap, text, gap … text: gaps as they were written."""
    names = {tokenizer.piece(tokenizer.specials.need("mask")), *FOREIGN["mask"]}
    return re.split(f"({'|'.join([*map(re.escape, sorted(names)), GAP])})", text)


def with_masks(loaded: Loaded, texts: list[str], mask: int) -> list[int]:
    """The ids of the texts with a mask between every two.

    The mask replaces a whole piece. If pieces include the blank before them, the blank before the mask is part of
    the masked piece, as in training.
    """
    whole, (*before, last) = holds_blanks(loaded.tokenizer), texts
    parts = [*(text.rstrip(" ") if whole else text for text in before), last]
    first, *others = (loaded.encode(part) if part else [] for part in parts)
    return [*first, *(token for ids in others for token in (mask, *ids))]


def _candidates(tokenizer: Tokenizer, parts: list[str], number: int, shares: Tensor, top: int) -> tuple[Candidate, ...]:
    """The candidates for the gap with this number, from 0."""
    words = shares[: tokenizer.vocab_size].clone()  # v
    words[list(tokenizer.specials.ids().values())] = -1.0
    best = words.topk(min(top, len(words)))
    before, behind = "".join(parts[: 2 * number + 1]), "".join(parts[2 * number + 2 :])
    found = []
    for token, share in zip(best.indices.tolist(), best.values.tolist(), strict=True):
        if share >= 0:
            word, joined = put(tokenizer, before, token)
            found.append(Candidate(word, share, joined + behind, token))
    return tuple(found)


def put(tokenizer: Tokenizer, before: str, token: int) -> tuple[str, str]:
    """A piece as a word, and the text before the gap followed by that word, with or without a blank."""
    piece, word = tokenizer.piece(token), tokenizer.decode([token])
    if "\ufffd" in word:  # part of a character: show its bytes
        return piece, before + piece
    if tokenizer.kind == "characters":
        return piece, before + word
    if not holds_blanks(tokenizer):
        inside = piece.startswith("##")
        word = word.removeprefix("##").strip() if inside else word.strip()
        return word, (before.rstrip(" ") if inside else before) + word
    word, kept = word.strip(" "), before.rstrip(" ")
    return word or piece, kept + (" " if kept and piece.startswith("▁") else "") + word
