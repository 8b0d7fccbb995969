"""Byte-level byte-pair encoding, as in GPT-2: the most common neighbours are merged, again and again.

It starts from all 256 bytes, so no text is unknown, and decoding restores every text exactly.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Self

import tokenizers
from tokenizers import Regex, decoders, models, pre_tokenizers, trainers

from glassformer.config.values import size, truth
from glassformer.errors import FileError
from glassformer.text.alphabet import spell_visible, visible_bytes
from glassformer.text.files import LLAMA, Declared, prefix_scheme, read_text, read_vocabulary
from glassformer.text.learn import BLANK, TokenizerCorpus, reached, wanted
from glassformer.text.pipeline import TOKENIZER_FILE, Pipeline, add_tokens, built, check_merges
from glassformer.text.tokenizer import NAMES, Specials

VOCABULARY_AND_MERGES = (("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe"))
QWEN2 = "Qwen2Tokenizer"
MAKERS = ("GPT2Tokenizer", "RobertaTokenizer", "BartTokenizer", QWEN2)
QWEN2_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


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
    def train(
        cls, texts: Iterable[str], vocab_size: int | None, *, min_frequency: int = 2, at_most: bool = False
    ) -> Self:
        """`at_most`: the vocabulary may be smaller if the texts give no more, for files of any size."""
        asked = wanted(cls.kind, vocab_size, least=len(NAMES) + 256)
        corpus = TokenizerCorpus(texts)
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
        if not truth("tokenizer.at_most", at_most):
            reached(cls.kind, asked, library.get_vocab_size())
        return cls(library, Specials(), own=True)

    @classmethod
    def open(cls, folder: Path | str) -> Self:
        """tokenizer.json, or the two files of GPT-2, whose layout is the same as ours."""
        folder = Path(folder)
        files = find_merges(folder)
        if (folder / TOKENIZER_FILE).exists() or files is None:
            return super().open(folder)
        declared = Declared.read(folder)
        declared.made_by(MAKERS, files[0])
        vocabulary, merges = read_vocabulary(files[0]), read_merges(files[1])
        check_merges(files[1], vocabulary, merges)
        prefix = declared.truth("add_prefix_space", False)
        library = built(files[0], lambda: byte_level(models.BPE(vocab=vocabulary, merges=merges), prefix=prefix))
        if declared.maker == QWEN2:
            digits = pre_tokenizers.Split(Regex(QWEN2_PATTERN), "isolated")
            visible = pre_tokenizers.ByteLevel(add_prefix_space=prefix, use_regex=False)
            library.pre_tokenizer = pre_tokenizers.Sequence([digits, visible])
        return cls.of(add_tokens(library, declared, files[0]), files[0], declared, own=not prefix)

    @classmethod
    def of(cls, library: tokenizers.Tokenizer, path: Path, declared: Declared, *, own: bool = False) -> Self:
        if declared.maker == LLAMA and not is_byte_level(library):
            library = as_llama(library, prefix_scheme(declared))
        return super().of(library, path, declared, own=own)


def byte_level(model: models.BPE, *, prefix: bool = False) -> tokenizers.Tokenizer:
    library = tokenizers.Tokenizer(model)
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    library.decoder = decoders.ByteLevel()
    return library


def is_byte_level(library: tokenizers.Tokenizer) -> bool:
    """Whether pieces spell bytes, as Llama 3's do, although some of its folders name the class of Llama 2."""
    return '"ByteLevel"' in library.to_str()


def as_llama(library: tokenizers.Tokenizer, scheme: str) -> tokenizers.Tokenizer:
    """The tokenizer as `transformers` uses it: only the pieces of the file count; blanks are marked while splitting.

    Older files add a blank to every text; since version 5, a text that begins with a blank gets no second one.
    """
    library.normalizer = None
    library.pre_tokenizer = pre_tokenizers.Metaspace(BLANK, scheme, split=False)
    steps = [decoders.Replace(BLANK, " "), decoders.ByteFallback(), decoders.Fuse()]
    library.decoder = decoders.Sequence(steps if scheme == "never" else [*steps, decoders.Strip(" ", 1, 0)])
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
