"""Training a vocabulary: the texts for the library, the size asked for, and SentencePiece's trainer.

A vocabulary has exactly the size asked for: a smaller one would not fit the model planned with it.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from typing import Any

import sentencepiece as spm

from glassformer.config.values import rate, size
from glassformer.errors import ConfigError, InputError, shown
from glassformer.text.normalisation import normalise
from glassformer.text.tokenizer import NAMES, ROLES

# The trainers' time grows with the square of a word's length, and SentencePiece's silently skips long sentences, so a
# long text is cut into parts, at white space if possible.
PART = re.compile(r".{1,400}(?!\S)|.{1,400}", re.DOTALL)
LARGEST_VOCABULARY = 2**22  # the trainers allocate memory for all of it at once
BLANK = "▁"  # how the library writes a blank
RESERVED = re.compile(f"[\0\t\n{BLANK}\u2585]+")  # the trainer's own marks and ends of sentences
LEAST_COVERAGE = 0.98  # the trainer's minimum
THREADS = 4  # fixed, because the last digits of the scores depend on it
TOO_SMALL = re.compile(r"smaller than required_chars\. \d+ vs (\d+)")
TOO_LARGE = re.compile(r"set it to a value <= (\d+)")


class TokenizerCorpus:
    """Texts, normalised, checked and cut into parts on the way; knows afterwards whether there were any."""

    def __init__(self, texts: Iterable[str]) -> None:
        if isinstance(texts, str) or not isinstance(texts, Iterable):
            raise InputError("texts_not_a_list", value=shown(texts))
        self._texts = texts
        self._characters = 0

    def __iter__(self) -> Iterator[str]:
        for text in self._texts:
            composed = normalise(text)
            self._characters += len(composed)
            yield from PART.findall(composed)

    def check(self) -> None:
        """After the texts have passed: raises if there were none."""
        if not self._characters:
            raise InputError("no_training_text")


def wanted(kind: str, vocab_size: int | None, least: int) -> int:
    """The size asked for; raises if the special tokens and the alphabet alone need more."""
    if vocab_size is None:
        raise ConfigError("vocab_size_unset", kind=kind)
    asked = size("vocab_size", vocab_size, high=LARGEST_VOCABULARY)
    if asked < least:
        raise ConfigError("vocabulary_too_small", kind=kind, vocab_size=asked, least=least)
    return asked


def reached(kind: str, vocab_size: int, most: int) -> None:
    """Raises if the vocabulary came out smaller than asked for."""
    if most < vocab_size:
        raise ConfigError("vocabulary_too_large", kind=kind, vocab_size=vocab_size, most=most)


def learn(kind: str, texts: Iterable[str], vocab_size: int | None, model_type: str, coverage: float = 1.0) -> bytes:
    """A serialised model: special tokens, the 256 bytes, then the pieces. It changes nothing in a text but ␣ to ▁."""
    asked = wanted(kind, vocab_size, least=len(NAMES) + 256)
    covered = _coverage(coverage)
    # Each sentence once: the trainer's time grows with the square of the repetitions; 2,000 take minutes.
    sentences = dict.fromkeys(_sentences(TokenizerCorpus(texts)))
    if not sentences:
        raise InputError("no_training_text")
    written = io.BytesIO()
    specials: dict[str, Any] = {f"{role}_id": number for number, role in enumerate(ROLES[:4])}
    specials |= {f"{role}_piece": name for role, name in zip(ROLES[:4], NAMES[:4], strict=True)}
    try:
        spm.SentencePieceTrainer.train(
            sentence_iterator=iter(sentences),
            model_writer=written,
            vocab_size=asked,
            model_type=model_type,
            character_coverage=covered,
            byte_fallback=True,
            normalization_rule_name="identity",
            add_dummy_prefix=False,
            remove_extra_whitespaces=False,
            control_symbols=list(NAMES[4:]),
            unk_surface="<unk>",
            num_threads=THREADS,
            minloglevel=3,
            **specials,
        )
    except RuntimeError as error:
        raise _refused(kind, asked, str(error)) from error
    return written.getvalue()


def _coverage(value: float) -> float:
    if value == 1:
        return 1.0
    if rate("character_coverage", value) < LEAST_COVERAGE:
        raise ConfigError("out_of_range", key="character_coverage", value=value, low=LEAST_COVERAGE, high=1)
    return value


def _sentences(corpus: TokenizerCorpus) -> Iterator[str]:
    """Sentences, cut at the trainer's own marks: it would silently skip a sentence that contains one."""
    for text in corpus:
        for part in RESERVED.split(text):
            if part:
                yield part


def _refused(kind: str, vocab_size: int, said: str) -> ConfigError:
    """The library's error in our words, with the sizes that would do."""
    small, large = TOO_SMALL.search(said), TOO_LARGE.search(said)
    if small:
        return ConfigError("vocabulary_too_small", kind=kind, vocab_size=vocab_size, least=int(small[1]))
    if large:
        return ConfigError("vocabulary_too_large", kind=kind, vocab_size=vocab_size, most=int(large[1]))
    return ConfigError("trainer_refused", kind=kind, why=said.splitlines()[0])
