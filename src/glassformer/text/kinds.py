"""All kinds of tokenizer by name; training one and opening one of any kind."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from glassformer.errors import ConfigError, FileError, choose, shown, suggest
from glassformer.text.bpe import Bpe, find_merges
from glassformer.text.characters import Characters
from glassformer.text.files import read_config
from glassformer.text.pipeline import FILE, read_library
from glassformer.text.sentencepiece import SentencePiece, find_model
from glassformer.text.tokenizer import Tokenizer
from glassformer.text.unigram import Unigram
from glassformer.text.wordpiece import VOCABULARY, WordPiece
from glassformer.text.words import Words

TOKENIZERS: dict[str, Any] = {
    "bpe": Bpe,
    "wordpiece": WordPiece,
    "unigram": Unigram,
    "sentencepiece": SentencePiece,
    "characters": Characters,
    "words": Words,
}

MODELS: dict[str, Any] = {kind.model: kind for kind in (Words, Unigram, WordPiece, Bpe)}


def train(
    kind: str,
    texts: Iterable[str],
    vocab_size: int | None = None,
    options: Mapping[str, Any] = MappingProxyType({}),
) -> Tokenizer:
    """A tokenizer of exactly `vocab_size` entries, special tokens included; "characters" and "words" can do without it.

    The same texts give the same file, byte for byte.
    """
    chosen = choose("tokenizer", kind, TOKENIZERS)
    known = [name for name in inspect.signature(chosen.train).parameters if name not in ("texts", "vocab_size")]
    for option in options:
        if option not in known:
            hint = suggest(option, known)
            raise ConfigError("unknown_option", key="tokenizer", option=option, kind=kind, hint=hint)
    trained: Tokenizer = chosen.train(texts, vocab_size, **options)
    return trained


def open_tokenizer(folder: Path | str) -> Tokenizer:
    """The tokenizer in a folder: one of ours, or as Hugging Face, GPT-2, BERT or SentencePiece leave theirs."""
    folder = Path(folder)
    config = read_config(folder)
    opened: Tokenizer
    kind = config.get("kind")
    if kind is not None and (not isinstance(kind, str) or kind not in TOKENIZERS):
        raise FileError("tokenizer_unknown_kind", path=folder, found=shown(kind), known=", ".join(TOKENIZERS))
    if kind is not None:
        opened = TOKENIZERS[kind].open(folder)
    elif (folder / FILE).is_file():
        model = type(read_library(folder / FILE).model).__name__
        opened = MODELS[model].open(folder)
    elif find_merges(folder):
        opened = Bpe.open(folder)
    elif (folder / VOCABULARY).is_file():
        opened = WordPiece.open(folder)
    elif find_model(folder):
        opened = SentencePiece.open(folder)
    else:
        raise FileError("no_tokenizer", path=folder)
    return opened
