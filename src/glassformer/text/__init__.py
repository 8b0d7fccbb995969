"""Text → tokens: the way into Figure 1 and out of it. Tokenizers are trained and run by libraries."""

from __future__ import annotations

from glassformer.text.bpe import Bpe
from glassformer.text.characters import Characters
from glassformer.text.frame import Frame, framing, pair
from glassformer.text.kinds import TOKENIZERS, open_tokenizer, train
from glassformer.text.marian import Marian
from glassformer.text.normalisation import normalise
from glassformer.text.sentencepiece import SentencePiece
from glassformer.text.tokenizer import Specials, Tokenizer
from glassformer.text.unigram import Unigram
from glassformer.text.vocabularies import Vocabularies
from glassformer.text.wordpiece import WordPiece
from glassformer.text.words import Words

__all__ = [
    "TOKENIZERS",
    "Bpe",
    "Characters",
    "Frame",
    "Marian",
    "SentencePiece",
    "Specials",
    "Tokenizer",
    "Unigram",
    "Vocabularies",
    "WordPiece",
    "Words",
    "framing",
    "normalise",
    "open_tokenizer",
    "pair",
    "train",
]
