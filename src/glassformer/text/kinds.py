"""All kinds of tokenizer by name; training one and opening one of any kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from glassformer.config.options import REQUIRED, Schema, check_choice, keywords, parameters
from glassformer.config.values import Choice
from glassformer.errors import ConfigError, FileError, choose, shown
from glassformer.text.bpe import Bpe, find_merges
from glassformer.text.characters import Characters
from glassformer.text.files import read_config
from glassformer.text.marian import Marian, holds_marian
from glassformer.text.pipeline import TOKENIZER_FILE, model_type
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

OPENED: dict[str, Any] = {"marian": Marian}  # come with a model and cannot be trained here

MODELS: dict[str, Any] = {kind.model: kind for kind in (Words, Unigram, WordPiece, Bpe)}


def train(
    kind: str,
    texts: Iterable[str],
    vocab_size: int | None = None,
    options: Mapping[str, Any] = MappingProxyType({}),
) -> Tokenizer:
    """A tokenizer of exactly `vocab_size` entries, special tokens included; optional for "characters" and "words".

    The same texts give the same file, byte for byte.
    """
    check_tokenizer(kind, options)
    trained: Tokenizer = TOKENIZERS[kind].train(texts, vocab_size, **options)
    return trained


def check_tokenizer(kind: str, options: Mapping[str, Any]) -> None:
    """Raises, before a text is read, unless such a tokenizer can be trained with these options."""
    choose("tokenizer", kind, TOKENIZERS)
    check_choice("tokenizer", Choice(kind, options), tokenizer_options(kind))


def tokenizer_options(kind: str) -> Schema:
    """All options of a kind; none for a kind that cannot be trained here."""
    return keywords(TOKENIZERS[kind].train, without=("texts", "vocab_size")) if kind in TOKENIZERS else {}


def check_unsized(kind: str) -> None:
    """Raises for a kind that needs a vocabulary size, if none is given."""
    chosen = choose("tokenizer", kind, TOKENIZERS)
    if parameters(chosen.train)["vocab_size"].default is REQUIRED:
        raise ConfigError("vocab_size_unset", kind=kind)


def open_tokenizer(folder: Path | str) -> Tokenizer:
    """The tokenizer in a folder: one of ours, or in the files of Hugging Face, GPT-2, BERT, SentencePiece or Marian.

    For a Marian folder, that of the source; `Vocabularies.open` gives both.
    """
    folder = Path(folder)
    found = read_config(folder).get("kind")
    known = TOKENIZERS | OPENED
    if found is not None and (not isinstance(found, str) or found not in known):
        raise FileError("tokenizer_unknown_kind", path=folder, found=shown(found), known=", ".join(known))
    kind = known[found] if found is not None else kind_of_folder(folder)
    if kind is None:
        raise FileError("no_tokenizer", path=folder)
    opened: Tokenizer = kind.open(folder)
    return opened


def kind_of_folder(folder: Path) -> Any:
    """The kind of tokenizer whose files are in a folder; None if there are none."""
    if holds_marian(folder):
        return Marian
    if (folder / TOKENIZER_FILE).is_file():
        return MODELS[model_type(folder / TOKENIZER_FILE)]
    if find_merges(folder):
        return Bpe
    if (folder / VOCABULARY).is_file():
        return WordPiece
    return SentencePiece if find_model(folder) else None
