"""Masks of a masked language model: which tokens are hidden, and what replaces them. BERT's rule."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glassformer.data.store import TokenIds
from glassformer.losses import IGNORE
from glassformer.text import Tokenizer

BLANK = "▁"  # how a piece shows the blank before a word
INSIDE = "##"  # how a foreign WordPiece marks a piece inside of a word


@dataclass(frozen=True, kw_only=True)
class Masking:
    r"""Devlin et al. 2019, §3.1: a share `rate` of the tokens has to be predicted. Of these

        `masked`                 80 %   are replaced by [MASK]
        `random`                 10 %   are replaced by any token that is not special, each as likely as any other
        1 - masked - random      10 %   stay as they are

    So the model cannot know which words it has to predict, and must represent them all. `whole_word` chooses whole
    words, with all their pieces; the replacement is drawn for each piece, as in BERT. Every token has the same chance
    to be chosen either way.
    Special tokens, including <unk>, are never chosen; in every text with other tokens at least one is.
    Differs from BERT: drawn again whenever a text is read, not once for ten epochs; n · rate is rounded up or down at
    random, so that short texts too have the right rate on average (from 1 / rate tokens on).
    """

    mask: int
    ordinary: NDArray[np.bool_]  # v: whether a token is not special
    begins: NDArray[np.bool_]  # v: whether it begins a word
    rate: float = 0.15
    masked: float = 0.8
    random: float = 0.1
    whole_word: bool = False

    def __call__(self, tokens: TokenIds, random: np.random.Generator) -> tuple[TokenIds, TokenIds]:
        """What the model reads, and what it should predict: IGNORE where nothing is masked."""
        chosen = self.choose(tokens, random)
        draw = random.random(len(tokens))
        read = np.where(chosen & (draw < self.masked), self.mask, tokens)
        replaced = chosen & (draw >= self.masked) & (draw < self.masked + self.random)
        read[replaced] = random.choice(np.flatnonzero(self.ordinary), int(replaced.sum()))
        return read.astype(np.int32), np.where(chosen, tokens, IGNORE).astype(np.int32)

    def choose(self, tokens: TokenIds, random: np.random.Generator) -> NDArray[np.bool_]:
        """Which tokens have to be predicted."""
        allowed = self.ordinary[tokens]
        words = self.words(tokens) if self.whole_word else np.arange(len(tokens))
        possible = np.unique(words[allowed])
        count = min(max(int(len(possible) * self.rate + random.random()), 1), len(possible))
        taken = np.zeros(len(tokens), dtype=bool)  # by number of the word
        taken[random.permutation(possible)[:count]] = True
        return allowed & taken[words]

    def words(self, tokens: TokenIds) -> NDArray[np.int64]:
        """The number of the word that each token is a piece of."""
        first = self.begins[tokens]
        first[:1] = True
        return np.cumsum(first) - 1


def make_masking(
    tokenizer: Tokenizer, *, rate: float = 0.15, masked: float = 0.8, random: float = 0.1, whole_word: bool = False
) -> Masking:
    """The rule for the tokens of a tokenizer."""
    ordinary = np.ones(tokenizer.vocab_size, dtype=bool)
    ordinary[list(tokenizer.specials.ids().values())] = False
    return Masking(
        mask=tokenizer.specials.need("mask"),
        ordinary=ordinary,
        begins=begin_words(tokenizer),
        rate=rate,
        masked=masked,
        random=random,
        whole_word=whole_word,
    )


def begin_words(tokenizer: Tokenizer) -> NDArray[np.bool_]:
    """For every token, whether it begins a word. Words are separated by blanks; a blank belongs to the next word."""
    pieces = [tokenizer.piece(token) for token in range(tokenizer.vocab_size)]
    if tokenizer.kind == "words":
        return np.ones(len(pieces), dtype=bool)
    if tokenizer.kind == "wordpiece" and not tokenizer.exact:
        return np.array([not piece.startswith(INSIDE) for piece in pieces])
    return np.array([piece.startswith((BLANK, "\\n", "\\t", "\\r")) for piece in pieces])
