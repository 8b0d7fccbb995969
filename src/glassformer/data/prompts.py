"""Prompts: what somebody asks about a canvas, as tokens. A point asks what lies there, a word where such a digit is.

Of Figure 1 they are what the decoder reads, instead of the words so far.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from glassformer.data.canvases import CLASSES
from glassformer.data.examples import Example

NAMES = {
    "en": ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"),
    "ko": ("영", "하나", "둘", "셋", "넷", "다섯", "여섯", "일곱", "여덟", "아홉"),
}
WORDS = tuple(name for names in NAMES.values() for name in names)  # word i is the name of digit i mod 10
LENGTH = 2  # tokens of every prompt
FEWEST = 2  # digits on a canvas: of a single one nobody needs to say which is meant


def vocab_size(size: int) -> int:
    """The tokens of all prompts about canvases of this size: columns, rows, "find", and the words."""
    return 2 * size + 1 + len(WORDS)


class PromptKind(Protocol):
    """A kind of prompt about canvases of one size."""

    def can_ask(self, labels: NDArray[Any]) -> NDArray[np.bool_]:
        """Which digits of a canvas a prompt of this kind can single out: … m → … m."""

    def tokens(self, label: int, box: NDArray[Any], random: np.random.Generator) -> tuple[int, int]:
        """A prompt that asks for this digit."""

    def read(self, tokens: tuple[int, int]) -> str:
        """The prompt as a person would write it."""


@dataclass(frozen=True)
class PointPrompt:
    """A pixel inside the box of a digit: its column, 0 … size − 1, then its row, size … 2 size − 1."""

    size: int

    def can_ask(self, labels: NDArray[Any]) -> NDArray[np.bool_]:
        return labels >= 0

    def tokens(self, label: int, box: NDArray[Any], random: np.random.Generator) -> tuple[int, int]:
        centre, sides = box[:2] * self.size, box[2:] * self.size
        first, pixels = (centre - sides / 2).round().astype(int), sides.round().astype(int)  # x y
        x, y = (first + random.integers(0, pixels)).tolist()
        return x, self.size + y

    def read(self, tokens: tuple[int, int]) -> str:
        return f"({tokens[0]}, {tokens[1] - self.size})"


@dataclass(frozen=True)
class WordPrompt:
    """The token "find", then the name of a digit in English or Korean. It asks for a class that is there only once."""

    size: int

    def can_ask(self, labels: NDArray[Any]) -> NDArray[np.bool_]:
        alike = (labels[..., :, None] == labels[..., None, :]).sum(-1)  # … m
        return (labels >= 0) & (alike == 1)

    def tokens(self, label: int, box: NDArray[Any], random: np.random.Generator) -> tuple[int, int]:
        find = 2 * self.size
        return find, find + 1 + int(label + CLASSES * random.integers(len(NAMES)))

    def read(self, tokens: tuple[int, int]) -> str:
        return WORDS[tokens[1] - tokens[0] - 1]


PROMPT_KINDS: dict[str, Callable[[int], PromptKind]] = {
    "point": PointPrompt,
    "word": WordPrompt,
}  # from the size of a canvas
CHOICES: dict[str, tuple[str, ...]] = {**{kind: (kind,) for kind in PROMPT_KINDS}, "both": tuple(PROMPT_KINDS)}


class AskedPrompt(NamedTuple):
    """A prompt, and which digit of the canvas it asks for."""

    tokens: tuple[int, int]
    digit: int


def ask(prompt: PromptKind, canvas: Example, random: np.random.Generator) -> AskedPrompt:
    """One of the digits that can be asked for, each as likely as the others."""
    _, labels, boxes = canvas
    digit = int(random.choice(np.flatnonzero(prompt.can_ask(labels))))
    return AskedPrompt(prompt.tokens(int(labels[digit]), boxes[digit], random), digit)


def worth_asking(prompts: Iterable[PromptKind], labels: NDArray[Any]) -> NDArray[np.bool_]:
    """Canvases on which prompts matter: at least two digits, of which each kind can ask for one. n m → n."""
    found: NDArray[np.bool_] = (labels >= 0).sum(1) >= FEWEST
    for prompt in prompts:
        found &= prompt.can_ask(labels).any(1)
    return found
