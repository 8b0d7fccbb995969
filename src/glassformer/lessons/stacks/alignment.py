"""Word alignment from cross-attention, and its alignment error rate (Och & Ney 2003)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from glassformer.text import Tokenizer

Links = frozenset[tuple[int, int]]  # (source word, target word)


def words_of(tokenizer: Tokenizer, text: str) -> list[int]:
    """For each piece of a text, the number of the word (split at spaces) in which it ends."""
    composed = unicodedata.normalize("NFC", text)
    return [composed[:end].count(" ") for _, end in tokenizer.spans(text)]


def word_weights(weights: Tensor, source: Sequence[int], target: Sequence[int]) -> Tensor:
    """Weights between pieces, t s, as weights between words: summed over the pieces of a source word, averaged over
    those of a target word. Pieces after the last word (eos) are left out."""
    t, s = max(target) + 1, max(source) + 1
    into = torch.nn.functional.one_hot(torch.tensor(source), s).to(weights)  # pieces words
    of = torch.nn.functional.one_hot(torch.tensor(target), t).to(weights)  # pieces words
    return (of / of.sum(0)).T @ weights[: len(target), : len(source)] @ into  # words words


def strongest(weights: Tensor) -> Links:
    """Each target word with the source word it looks at most."""
    return frozenset((int(i), j) for j, i in enumerate(weights.argmax(1)))


def diagonal(source: int, target: int) -> Links:
    """A baseline without a model: words aligned in order, evenly spread."""
    step = (source - 1) / max(target - 1, 1)
    return frozenset((round(j * step), j) for j in range(target))


def error_rate(found: Iterable[Links], right: Iterable[Links]) -> float:
    r"""AER = 1 − 2 |A ∩ G| / (|A| + |G|), over all sentences together: 0 = every link right, 1 = none.

    All links of the corpus are "sure" links; there are no "possible" ones.
    """
    both = list(zip(found, right, strict=True))
    hit = sum(len(a & g) for a, g in both)
    return 1 - 2 * hit / sum(len(a) + len(g) for a, g in both)


def chance(right: Sequence[Links], sizes: Sequence[tuple[int, int]]) -> float:
    """The expected error rate if every target word takes a random source word."""
    hit = sum(len(links) / source for links, (source, _) in zip(right, sizes, strict=True))
    return 1 - 2 * hit / sum(len(links) + target for links, (_, target) in zip(right, sizes, strict=True))


def least(right: Sequence[Links]) -> float:
    """The lowest rate possible with one link per target word: some words have several partners."""
    return error_rate([frozenset({link[1]: link for link in links}.values()) for links in right], right)
