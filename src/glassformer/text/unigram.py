"""The unigram language model: of all ways to cut a word, the likeliest; pieces that help least are dropped in training.

Characters outside of its vocabulary are spelled in bytes, so decoding restores every text exactly.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

import sentencepiece as spm
import tokenizers
from tokenizers import decoders, models

from glassformer.text.alphabet import spell_fallback
from glassformer.text.learn import BLANK, learn
from glassformer.text.normalisation import split_words
from glassformer.text.pipeline import Pipeline
from glassformer.text.tokenizer import Specials


class Unigram(Pipeline):
    """The unigram language model (Kudo 2018). Exact.

        x* = argmax Σ log p(xᵢ) over all ways to cut the word; p by expectation maximisation

    Pieces are made of characters, not bytes: a known Hangul syllable is never cut. The trainer is SentencePiece's:
    that of `tokenizers` finds no whole word that is not part of another one (10 % more tokens, twice as many on a small
    corpus), gives another file in every process, and never ends when asked for little more than the alphabet.
    """

    kind = "unigram"
    model = "Unigram"

    @staticmethod
    def spell(piece: str) -> bytes:
        return spell_fallback(piece)

    @classmethod
    def train(cls, texts: Iterable[str], vocab_size: int | None, *, character_coverage: float = 1.0) -> Self:
        """`character_coverage`: the share of the text whose characters get pieces of their own."""
        learned = spm.SentencePieceProcessor()
        learned.load_from_serialized_proto(learn(cls.kind, texts, vocab_size, "unigram", character_coverage))
        tokens = range(learned.get_piece_size())
        pieces = [(learned.id_to_piece(token).replace(BLANK, " "), learned.get_score(token)) for token in tokens]
        library = tokenizers.Tokenizer(models.Unigram(pieces, unk_id=learned.unk_id(), byte_fallback=True))
        library.pre_tokenizer = split_words()
        library.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()])
        return cls(library, Specials(), own=True)
