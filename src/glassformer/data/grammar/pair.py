"""A sentence in both languages with its word alignment and what is known about it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tags:
    """construction: its name in the grammar; speech: plain, casual, polite or formal; kind: why it is in its split.

    kind: seen-like (every combination was trained on), subject-verb, adjective-noun or verb-place (such a one was
    held out), long (longer than all trained on).
    """

    construction: str
    speech: str
    mood: str
    split: str
    kind: str


@dataclass(frozen=True)
class Pair:
    """Korean and English, and (Korean word, English word) indices over words between blanks.

    Every word on either side is aligned: an English article with its noun, "do" with the ending it stands for.
    Statements have no final period, questions end in "?". Both directions are functions: English shows the speech
    level by whom it addresses ("Mom, …" is 해요체, "Professor, …" 합니다체, "Minsu, …" 해체, nobody 한다체), honour by
    the subject, and "the" stands for 그 wherever the noun does not take it anyway.
    """

    source_ko: str
    target_en: str
    alignment: tuple[tuple[int, int], ...]
    tags: Tags
