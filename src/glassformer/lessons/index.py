"""The list of lessons without loading any: titles, questions and claims come from words/ alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from glassformer.errors import UsageError, suggest
from glassformer.lessons.catalogue import CHAPTERS, LESSONS
from glassformer.lessons.texts import tables
from glassformer.words import say


@dataclass(frozen=True)
class LessonEntry:
    """One lesson in the list of lessons."""

    name: str
    chapter: str
    title: str
    question: str
    claims: dict[str, str]  # id → the claim as a sentence

    def to_json(self) -> dict[str, Any]:
        return {**vars(self), "command": f"glassformer lesson {self.name}"}


def entry(name: str, lang: str) -> LessonEntry:
    texts = tables(lang, "lessons", name)
    claims = {claim: words["claim"] for claim, words in texts.get("claims", {}).items()}
    return LessonEntry(name, LESSONS[name], texts["title"], texts["question"], claims)


def entries(lang: str) -> list[LessonEntry]:
    """Every lesson, in reading order."""
    return [entry(name, lang) for name in LESSONS]


def chapters(lang: str) -> dict[str, str]:
    """The chapters that have lessons, and their titles."""
    return {chapter: say(f"chapters.{chapter}", lang) for chapter, names in CHAPTERS.items() if names}


def claims() -> dict[str, str]:
    """Every claim and the lesson that answers it, in reading order."""
    return {claim: found.name for found in entries("en") for claim in found.claims}


GROUPS: dict[str, tuple[str, ...]] = {
    "parts-that-matter": ("ffn-matters", "norm-matters", "classifier-matters"),  # one sentence, three claims
}


def claims_named(ids: list[str]) -> list[str]:
    """The claims with these names, each once, in the order given; the name of a group means all its claims."""
    known = claims()
    for claim in ids:
        if claim not in known and claim not in GROUPS:
            raise UsageError("claim_unknown", name=claim, hint=suggest(claim, [*known, *GROUPS]))
    return list(dict.fromkeys(one for claim in ids for one in GROUPS.get(claim, (claim,))))


def lessons_of(ids: list[str]) -> list[str]:
    """The lessons that answer these claims, each once; without names, every lesson that answers a claim."""
    known = claims()
    return list(dict.fromkeys(known[claim] for claim in claims_named(ids) or known))
