"""One token for each character: the smallest vocabulary and the longest sequences.

Characters that were not seen in training, or were too rare, are spelled in bytes, so every text is restored exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Self

import tokenizers
from tokenizers import decoders, models

from glassformer.config.values import size
from glassformer.text.alphabet import BYTE_PIECES, spell_fallback
from glassformer.text.learn import TokenizerCorpus, reached, wanted
from glassformer.text.pipeline import Pipeline
from glassformer.text.tokenizer import NAMES, Specials

FIXED = (*NAMES, *BYTE_PIECES)


class Characters(Pipeline):
    """Characters, the most common first: for the library, byte pairs that are never merged. Exact."""

    kind = "characters"
    model = "BPE"

    @staticmethod
    def spell(piece: str) -> bytes:
        return spell_fallback(piece)

    @classmethod
    def train(cls, texts: Iterable[str], vocab_size: int | None = None, *, min_frequency: int = 1) -> Self:
        """Without `vocab_size`: all characters of the texts."""
        corpus = TokenizerCorpus(texts)
        counts: Counter[str] = Counter()
        for text in corpus:
            counts.update(text)
        corpus.check()
        rarest = size("min_frequency", min_frequency)
        common = sorted((c for c in counts if counts[c] >= rarest), key=lambda c: (-counts[c], c))
        most = len(FIXED) + len(common)
        asked = wanted(cls.kind, most if vocab_size is None else vocab_size, least=len(FIXED))
        reached(cls.kind, asked, most)
        vocabulary = {piece: token for token, piece in enumerate([*FIXED, *common][:asked])}
        library = tokenizers.Tokenizer(models.BPE(vocab=vocabulary, merges=[], byte_fallback=True, unk_token="<unk>"))
        library.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()])
        return cls(library, Specials(), own=True)
