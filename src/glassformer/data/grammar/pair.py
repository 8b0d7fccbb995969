"""A sentence in both languages with its word alignment: words that share a mark, a node of the tree, are aligned."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from glassformer.data.grammar.lexicon import Phrasing


class Word(NamedTuple):
    """A word between blanks; marks are names of nodes, such as "s.noun" for the noun of the subject."""

    text: str
    marks: tuple[str, ...]


def words(text: str | Iterable[str], *marks: str) -> list[Word]:
    """Each word of a text, all with the same marks."""
    return [Word(part, marks) for part in (text.split() if isinstance(text, str) else text)]


def fixed(phrasing: Phrasing, mark: str, korean: bool) -> list[Word]:
    """One side of a phrase of fixed words, each word marked by its own number if that is known."""
    if not any(phrasing.links):
        return [Word(word, (mark,)) for word in (phrasing.ko if korean else phrasing.en)]
    numbers = range(1, len(phrasing.ko) + 1) if korean else phrasing.links
    return [
        Word(word, (f"{mark}{number}",))
        for word, number in zip(phrasing.ko if korean else phrasing.en, numbers, strict=True)
    ]


def suffixed(given: list[Word], suffix: str, *marks: str) -> list[Word]:
    """The words with a suffix, and perhaps more marks, on the last one."""
    last = given[-1]
    return [*given[:-1], Word(last.text + suffix, last.marks + marks)]


def alignment(source: list[Word], target: list[Word]) -> tuple[tuple[int, int], ...]:
    """(source index, target index) of all words that come from the same node."""
    places: dict[str, list[int]] = {}
    for index, word in enumerate(target):
        for mark in word.marks:
            places.setdefault(mark, []).append(index)
    found = {
        (index, other) for index, word in enumerate(source) for mark in word.marks for other in places.get(mark, ())
    }
    return tuple(sorted(found))


@dataclass(frozen=True)
class Tags:
    """construction: its name in the grammar; speech: plain, casual, polite or formal; kind: why it is in its split.

    kind: seen-like (every combination was trained on), subject-verb, adjective-noun or verb-place (a combination of
    this kind was held out), long (longer than all training sentences).
    """

    construction: str
    speech: str
    mood: str
    split: str
    kind: str


@dataclass(frozen=True)
class GrammarPair:
    """Korean and English, and (Korean word, English word) indices over words between blanks.

    Every word on either side is aligned: an English article with its noun, "do" with the ending it corresponds to.
    Statements have no final period, questions end in "?". Both directions are functions: English shows the
    speech level by the form of address ("Mom, …" is 해요체, "Professor, …" 합니다체, "Minsu, …" 해체, none 한다체),
    honour by the subject, and "the" means 그 unless the noun takes it anyway.
    """

    source_ko: str
    target_en: str
    alignment: tuple[tuple[int, int], ...]
    tags: Tags
