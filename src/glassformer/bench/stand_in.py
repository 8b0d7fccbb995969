"""A parallel corpus of any size from a seed, for measuring: as many pairs, words and kinds of words as WMT14 has.

No sentence means anything. How often a word occurs follows Zipf's law, 1/r, and beyond the 10,000 commonest words a
steeper one, as in large corpora; so 4.5 million pairs hold about 1.5 million different words on either side. The target
is the source in words of its own, neighbours exchanged: a translator can learn it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from glassformer.files import write_parts

WORDS = 3_000_000  # that may occur on either side
COMMON, STEEPER = 10_000, 1.5  # rank, and the exponent beyond it
MEAN, SPREAD, LONGEST = 25, 0.6, 120  # words in a sentence: its mean, the deviation of its logarithm, the most
AGAIN = 100  # so far behind a pair it comes again; one pair in twice as many does
AT_ONCE = 25_000  # pairs
CONSONANTS, VOWELS = "bcdfghjklmnprstvwxyz", "aeiou"
SIDES = {"en": [c + v for c in CONSONANTS for v in VOWELS], "de": [v + c for c in CONSONANTS for v in VOWELS]}
LETTERS = 8  # of the longest word: four syllables of two


def write_stand_in(folder: Path, pairs: int, seed: int = 0) -> tuple[Path, Path]:
    """Two parallel files, stand-in.en and stand-in.de; the first n pairs are the same for any number of pairs."""
    paths = tuple(folder / f"stand-in.{side}" for side in SIDES)
    for path, side in zip(paths, SIDES, strict=True):
        write_parts(path, _blocks(side, pairs, seed), durable=False)
    return paths[0], paths[1]


def _blocks(side: str, pairs: int, seed: int) -> Iterator[bytes]:
    for first in range(0, pairs, AT_ONCE):
        lengths, words = _sentences(seed, first // AT_ONCE)
        some = min(AT_ONCE, pairs - first)
        words = words[: lengths[:some].sum()]
        if side == "de":
            words = words[_exchanged(lengths[:some])]
        yield _written(_spelled(side)[words], lengths[:some])


def _sentences(seed: int, block: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many words each sentence of a block has, and the ranks of all of them, one sentence after another."""
    random = np.random.default_rng([seed, block])
    lengths = random.lognormal(np.log(MEAN) - SPREAD**2 / 2, SPREAD, AT_ONCE).round().astype(np.int64)
    lengths = np.clip(lengths, 1, LONGEST)
    again = np.arange(AGAIN, AT_ONCE, 2 * AGAIN)
    lengths[again] = lengths[again - AGAIN]
    words = np.searchsorted(_sums(), random.random(lengths.sum())).clip(max=WORDS - 1)
    begin = np.cumsum(lengths) - lengths
    for i in again.tolist():  # the sentence 100 before it, once more
        words[begin[i] : begin[i] + lengths[i]] = words[begin[i - AGAIN] : begin[i - AGAIN] + lengths[i]]
    return lengths, words


def _exchanged(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The places of the words when each sentence's first and second are exchanged, its third and fourth, and so on."""
    begin = np.repeat(np.cumsum(lengths) - lengths, lengths)
    inside = np.arange(len(begin)) - begin
    size = np.repeat(lengths, lengths)
    other = inside ^ 1
    return begin + np.where(other < size, other, inside)


def _written(spelled: NDArray[np.uint8], lengths: NDArray[np.int64]) -> bytes:
    """Words as lines of text."""
    cells = np.concatenate([spelled, np.full((len(spelled), 1), ord(" "), dtype=np.uint8)], axis=1)
    cells[np.cumsum(lengths) - 1, -1] = ord("\n")
    return cells[cells > 0].tobytes()


@cache
def _sums() -> NDArray[np.float64]:
    """The cumulative probabilities of the words, the commonest first."""
    rank = np.arange(1, WORDS + 1, dtype=np.float64)
    weight = np.where(rank <= COMMON, 1 / rank, (rank / COMMON) ** -STEEPER / COMMON)
    sums: NDArray[np.float64] = np.cumsum(weight / weight.sum())
    return sums


@cache
def _spelled(side: str) -> NDArray[np.uint8]:
    """The letters of every word, words × letters, 0 behind its end; the commoner, the shorter."""
    syllables = np.array([[*syllable.encode()] for syllable in SIDES[side]], dtype=np.uint8)
    base, found = len(syllables), np.zeros((WORDS, LETTERS), dtype=np.uint8)
    first, count, size = 0, base, 1
    while first < WORDS:
        number = np.arange(min(count, WORDS - first))
        for place in range(size):
            found[first : first + len(number), 2 * place : 2 * place + 2] = syllables[number // base**place % base]
        first, count, size = first + len(number), count * base, size + 1
    return found
