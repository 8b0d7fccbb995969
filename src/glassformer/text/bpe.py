"""Byte-level byte-pair encoding, as GPT-2 has it: the commonest neighbours are merged, again and again.

It starts from all 256 bytes, so no text is unknown to it and every text comes back exactly.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Self

import tokenizers
from tokenizers import decoders, models, pre_tokenizers, trainers

from glassformer.errors import FileError
from glassformer.text.alphabet import spell_visible, visible_bytes
from glassformer.text.corpus import Corpus, reached, wanted
from glassformer.text.files import read_config, read_table, read_text
from glassformer.text.pipeline import FILE, Pipeline, built, check_merges
from glassformer.text.special import NAMES, Specials
from glassformer.values import size

VOCABULARY_AND_MERGES = (("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe"))


class Bpe(Pipeline):
    """Byte-pair encoding (Sennrich 2016) on bytes (GPT-2, Radford 2019). Exact.

        repeat: (a, b) = argmax count(a b); vocabulary += ab

    A Hangul syllable is three bytes: it becomes one piece as soon as it is common enough.
    """

    kind = "bpe"
    model = "BPE"

    @staticmethod
    def spell(piece: str) -> bytes:
        return spell_visible(piece)

    @classmethod
    def train(cls, texts: Iterable[str], vocab_size: int | None, *, min_frequency: int = 2) -> Self:
        asked = wanted(cls.kind, vocab_size, least=len(NAMES) + 256)
        corpus = Corpus(texts)
        library = byte_level(models.BPE())
        trainer = trainers.BpeTrainer(
            vocab_size=asked,
            min_frequency=size("min_frequency", min_frequency),
            special_tokens=list(NAMES),
            initial_alphabet=sorted(visible_bytes()),
            show_progress=False,
        )
        library.train_from_iterator(corpus, trainer)
        corpus.check()
        reached(cls.kind, asked, library.get_vocab_size())
        return cls(library, Specials(), own=True)

    @classmethod
    def open(cls, folder: Path | str) -> Self:
        """tokenizer.json, or the two files of GPT-2, whose layout is the same as ours."""
        folder = Path(folder)
        files = find_merges(folder)
        if (folder / FILE).exists() or files is None:
            return super().open(folder)
        vocabulary, merges = read_table(files[0]), read_merges(files[1])
        check_merges(files[1], vocabulary, merges)
        library = built(files[0], lambda: byte_level(models.BPE(vocab=vocabulary, merges=merges)))
        return cls.of(library, files[0], read_config(folder) | {"own": True})


def byte_level(model: models.BPE) -> tokenizers.Tokenizer:
    library = tokenizers.Tokenizer(model)
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    library.decoder = decoders.ByteLevel()
    return library


def find_merges(folder: Path) -> tuple[Path, Path] | None:
    """The two files of GPT-2, under either pair of names."""
    for vocabulary, merges in VOCABULARY_AND_MERGES:
        if (folder / vocabulary).is_file() and (folder / merges).is_file():
            return folder / vocabulary, folder / merges
    return None


def read_merges(path: Path) -> list[tuple[str, str]]:
    """One merge on each line, after a line with the version."""
    lines = read_text(path).split("\n")
    merges = []
    for number, line in enumerate(lines, start=1):
        if not line.strip() or (number == 1 and line.startswith("#version")):
            continue
        first, _, second = line.rstrip("\r").partition(" ")
        if not first or not second or " " in second:
            raise FileError("merge_line", path=path, line=number)
        merges.append((first, second))
    return merges
