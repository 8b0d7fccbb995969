"""How well a text was predicted: perplexity, bits per character, and the n-grams that any model should beat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, isfinite, log
from typing import Self

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import InputError

LARGEST_EXPONENT = 709.0  # e^710 is more than a float can hold


@dataclass(frozen=True)
class Surprise:
    """The mean over tokens of -log p: in nats (the loss), in bits, and as perplexity, its exponential."""

    nats: float
    bits: float
    perplexity: float
    tokens: int


def perplexity(loss: float, tokens: int) -> Surprise:
    r"""From the sum of the losses in nats and the number of tokens.

        nats = Σ -ln p / n     bits = nats / ln 2     perplexity = e^nats

    Sum and count are taken over all batches before dividing once: a mean of means of unequal batches would differ.
    Perplexities can be compared only between models with the same tokens.
    """
    nats = _per(loss, tokens)
    return Surprise(nats, nats / log(2), exp(nats) if nats <= LARGEST_EXPONENT else float("inf"), tokens)


def bits_per_character(loss: float, characters: int) -> float:
    """The same loss per character of the text: comparable between tokenizers."""
    return _per(loss, characters) / log(2)


def _per(loss: float, count: int) -> float:
    if count <= 0:
        raise InputError("metric_nothing", metric="perplexity")
    if not isfinite(loss):
        raise InputError("metric_not_finite", metric="perplexity")
    return loss / count


HIGHEST = 6
START, END, FIRST = 0, 1, 2  # before a text, after it, and the first character
UNICODE = 0x110000  # the number of characters that an unseen one may be
Counts = NDArray[np.int64]
Probabilities = NDArray[np.float64]


@dataclass(frozen=True)
class NGramOrder:
    """The n-grams of one length: sorted keys (number of the context, character), and probabilities from their counts.

    `share`: (c − D(c)) / c(context); `left`, by context: the mass that the discounts leave to shorter n-grams.
    The number of an n-gram is its index among the keys; as a context of longer n-grams it has the same number.
    """

    keys: Counts
    share: NDArray[np.float64]
    left: NDArray[np.float64]

    @classmethod
    def of(cls, keys: Counts, counts: Counts, width: int) -> Self:
        context = keys // width
        total = np.bincount(context, counts)
        discount = discounts(counts)[np.minimum(counts, 3)]
        left = np.bincount(context, discount) / np.maximum(total, 1)
        share = (counts - discount) / np.maximum(total, 1)[context]
        return cls(keys, share, np.where(total > 0, left, 1.0))

    def extend(self, shorter: Probabilities, grams: Counts, contexts: Counts) -> Probabilities:
        """P of this length from P of the next shorter; −1: never seen, so the shorter one gets everything."""
        seen = (contexts >= 0) & (contexts < len(self.left))
        left = np.where(seen, self.left[np.where(seen, contexts, 0)], 1.0)
        return np.where(grams >= 0, self.share[grams], 0.0) + left * shorter


def discounts(counts: Counts) -> Probabilities:
    r"""What is taken from n-grams seen 0 times, once, twice, and three times or more (Chen and Goodman 1999).

        D_i = i − (i + 1) · Y · n_{i+1} / n_i,     Y = n_1 / (n_1 + 2 n_2),     n_i: how many were seen i times

    If there are too few n-grams for this, half of the smallest count is taken.
    """
    n = np.bincount(np.minimum(counts, 5), minlength=6)[1:5].astype(float)
    if not n.all():
        return np.array([0.0, 0.5, 0.5, 0.5])
    y = n[0] / (n[0] + 2 * n[1])
    found = [i - (i + 1) * y * n[i] / n[i - 1] for i in (1, 2, 3)]
    return np.array([0.0, *(min(max(value, 0.05), i - 0.05) for i, value in enumerate(found, 1))])


@dataclass(frozen=True)
class NGrams:
    r"""All orders up to `HIGHEST` at once, fitted on a training text.

        P_n(c | h) = max(N(h c) − D, 0) / N(h) + γ(h) · P_{n−1}(c | h′),     h′: h without its first character

    N counts occurrences in the highest order, and in lower orders the different characters before: "ngeles" is
    frequent, but follows hardly anything except A. P_0 is uniform over the characters seen, the end of a text, and one
    symbol for all others. `closed`: each text is a document by itself, with an end to predict; else they are one
    stream with an end between them.
    """

    characters: dict[str, int]
    occurrences: tuple[NGramOrder, ...]  # of length 1, 2 … `HIGHEST`
    continuations: tuple[NGramOrder, ...]  # the same, without the last
    closed: bool

    @classmethod
    def fit(cls, texts: Sequence[str], *, closed: bool = True) -> Self:
        known = {character: number for number, character in enumerate(sorted(set().union(*texts)), FIRST)}
        if not known:
            raise InputError("metric_nothing", metric="ngram")
        row, at = _row(texts, known, closed)
        width = len(known) + FIRST + 1  # and one for unknown
        occurrences: list[NGramOrder] = []
        continuations: list[NGramOrder] = []
        context = np.zeros_like(row)
        for length in range(HIGHEST):
            keys, gram = np.unique(context * width + row, return_inverse=True)
            gram = gram.astype(np.int64)
            occurrences.append(NGramOrder.of(keys, np.bincount(gram[at], minlength=len(keys)), width))
            if length + 1 < HIGHEST:
                different = np.unique(gram[at] * width + row[at - length - 1]) // width
                continuations.append(NGramOrder.of(keys, np.bincount(different, minlength=len(keys)), width))
            context = _behind(gram)
        return cls(known, tuple(occurrences), tuple(continuations), closed)

    def nats(self, texts: Sequence[str], skip: int = 0) -> dict[int, float]:
        """Order → Σ −ln P over all characters of these texts and their ends, except the first `skip` characters."""
        row, at = _row(texts, self.characters, self.closed)
        at = at[skip:]
        unknown = len(self.characters) + FIRST
        shorter = np.full(len(at), 1 / (len(self.characters) + 2))
        never_seen = int((row[at] == unknown).sum()) * np.log(UNICODE)
        found: dict[int, float] = {}
        context = np.zeros_like(row)
        for length in range(HIGHEST):
            keys = self.occurrences[length].keys
            wanted = context * (unknown + 1) + row
            place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            gram = np.where(keys[place] == wanted, place, -1)
            whole = self.occurrences[length].extend(shorter, gram[at], context[at])
            found[length + 1] = float(-np.log(whole).sum() + never_seen)
            if length + 1 < HIGHEST:
                shorter = self.continuations[length].extend(shorter, gram[at], context[at])
            context = _behind(gram)
        return found

    def best_order(self, texts: Sequence[str]) -> int:
        """The order that predicts these held-out texts best."""
        found = self.nats(texts)
        return min(found, key=found.__getitem__)


def _row(texts: Sequence[str], known: Mapping[str, int], closed: bool) -> tuple[Counts, Counts]:
    """All texts in one row of numbers, and the places in it to be predicted.

    Each text follows enough start symbols to hide the one before it; a stream has them only once.
    """
    unknown = len(known) + FIRST
    begin = [START] * (HIGHEST - 1)
    parts: list[Counts] = []
    for number, text in enumerate(texts):
        coded = [known.get(character, unknown) for character in text]
        first = begin if closed or not number else [END]
        parts.append(np.array([*first, *coded, *([END] if closed else [])], dtype=np.int64))
    row = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
    return row, np.flatnonzero(row != START)


def _behind(gram: Counts) -> Counts:
    """The context of each place: the n-gram that ends just before it. Number 0 is that of start symbols only."""
    return np.concatenate(([0], gram[:-1]))
