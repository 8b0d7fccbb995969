"""A sentence in both languages with its word alignment and what is known about it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tags:
    """construction: its name in the grammar; level: speech level; kind: why it is where it is in the splits.

    kind: seen-like (every combination was trained on), subject-verb, adjective-noun or verb-place (such a one was
    held out), long (longer than all trained on).
    """

    construction: str
    level: str
    mood: str
    split: str
    kind: str


@dataclass(frozen=True)
class Pair:
    """Korean and English, and (Korean word, English word) indices over words between blanks.

    Every word on either side is aligned: an English article with its noun, "do" with the ending it stands for.
    """

    source_ko: str
    target_en: str
    alignment: tuple[tuple[int, int], ...]
    tags: Tags
