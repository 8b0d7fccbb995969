"""Whole words, split at white space: a stand-in for models that have no tokenizer.

Lossy: a word that was not seen in training is <unk>, and white space is decoded as one blank.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

import tokenizers
from tokenizers import decoders, models, pre_tokenizers, trainers

from glassformer.config.values import size
from glassformer.errors import InputError
from glassformer.text.alphabet import spell_visible
from glassformer.text.learn import LARGEST_VOCABULARY, TokenizerCorpus, reached, wanted
from glassformer.text.pipeline import Pipeline, check_ids
from glassformer.text.tokenizer import NAMES, Specials


class Words(Pipeline):
    """Words at white space. Not exact: decode(encode(x)) = " ".join(NFC(x).split()) if all of the words are known.

    In the file each word has a blank before it, in GPT-2's visible bytes, so that no word of a text, not even "<eos>",
    is mistaken for a special token.
    """

    kind = "words"
    model = "WordLevel"
    keeps_text = False

    @staticmethod
    def spell(piece: str) -> bytes:
        return spell_visible(piece)

    @classmethod
    def train(cls, texts: Iterable[str], vocab_size: int | None = None, *, min_frequency: int = 1) -> Self:
        """Without `vocab_size`: all words of the texts."""
        asked = None if vocab_size is None else wanted(cls.kind, vocab_size, least=len(NAMES) + 1)
        corpus = TokenizerCorpus(texts)
        library = tokenizers.Tokenizer(models.WordLevel(unk_token="<unk>"))
        blank = pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=False)
        library.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), blank])
        library.decoder = decoders.ByteLevel()
        trainer = trainers.WordLevelTrainer(
            vocab_size=asked or LARGEST_VOCABULARY,
            min_frequency=size("min_frequency", min_frequency),
            special_tokens=list(NAMES),
            show_progress=False,
        )
        library.train_from_iterator(corpus, trainer)
        if library.get_vocab_size() == len(NAMES):
            raise InputError("no_training_text")
        reached(cls.kind, asked or 0, library.get_vocab_size())
        return cls(library, Specials(), own=True)

    def decode(self, ids: Iterable[int]) -> str:
        if not self.own:
            return super().decode(ids)
        kept = [token for token in check_ids(ids, self.vocab_size) if token not in self._dropped]
        return " ".join(self._spelled[token].decode(errors="replace").removeprefix(" ") for token in kept)

    def piece(self, token: int) -> str:
        return super().piece(token).removeprefix("▁") if self.own else super().piece(token)
