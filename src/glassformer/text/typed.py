"""Special tokens that a person types: "</s>" as the token, where that is asked for, as `transformers` reads a text."""

from __future__ import annotations

import re

from glassformer.text.normalisation import normalise
from glassformer.text.pipeline import Pipeline
from glassformer.text.sentencepiece import SentencePiece
from glassformer.text.tokenizer import Tokenizer


def encode_typed(tokenizer: Tokenizer, text: str) -> list[int]:
    """The ids of a text in which the names of special tokens stand for these tokens."""
    if isinstance(tokenizer, Pipeline):
        return tokenizer.encode_typed(text)
    special = tokenizer.special_ids() if isinstance(tokenizer, SentencePiece) else tokenizer.specials.ids().values()
    names = {tokenizer.piece(token): token for token in special}
    if not names:
        return tokenizer.encode(text)
    ids: list[int] = []
    pattern = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    for number, part in enumerate(re.split(f"({pattern})", normalise(text))):
        if part in names:
            ids.append(names[part])
        elif part and number and isinstance(tokenizer, SentencePiece):
            ids += tokenizer.encode_inside(part)
        elif part:
            ids += tokenizer.encode(part)
    return ids
