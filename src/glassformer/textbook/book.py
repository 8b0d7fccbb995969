"""The contents of the report in order, for HTML and Markdown: pages, chapters with lessons, claims, a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import glassformer.words
from glassformer.lessons import index
from glassformer.lessons.catalogue import CHAPTERS, NUMBERS
from glassformer.lessons.lesson_results import JudgedClaim, LessonResults
from glassformer.lessons.texts import fill_numbers, tables
from glassformer.lessons.view import MARKS, LessonView
from glassformer.textbook.pictures import Picture, picture
from glassformer.words import say

FIRST = ("welcome",)
LAST = (
    *("summary", "families", "misunderstandings", "tips", "remarks", "open_questions"),
    *("conclusion", "history", "reading", "glossary"),
)
PAGES = Path(__file__).parent / "templates"  # HTML templates of the report
PARTS = ("map", "tally", "paths", "claims")  # what a page may contain besides text: {{map}}
Insert = Callable[[str], str]  # one of PARTS, or a claim's id → its replacement


@dataclass(frozen=True)
class Say:
    """The sentences of the report, in the language of the page."""

    lang: str

    def __call__(self, key: str, **values: object) -> str:
        return say(f"report.{key}", self.lang, **values)

    def verdict(self, verdict: str) -> str:
        """The verdict in a word; "": not measured."""
        return say(f"verdicts.{verdict}", self.lang) if verdict else self("unmeasured")

    def mark(self, verdict: str) -> str:
        """The verdict as a sign."""
        return MARKS[verdict][0] if verdict else "○"

    def meaning(self, verdict: str) -> str:
        """What a verdict means."""
        return say(f"meanings.{verdict}", self.lang)


@dataclass(frozen=True)
class Page:
    """A page other than a lesson: words/LANG/pages/NAME.toml."""

    name: str
    lang: str

    @property
    def title(self) -> str:
        return str(self.table["title"])

    @property
    def table(self) -> dict[str, Any]:
        return tables(self.lang, "pages", self.name)

    @property
    def terms(self) -> Mapping[str, Mapping[str, str]]:
        """For the glossary: term, its translation, meaning."""
        found: Mapping[str, Mapping[str, str]] = self.table.get("terms", {})
        insert = partial(LessonResults().insert, self.lang)
        return {key: {**term, "meaning": fill_numbers(term["meaning"], {}, insert)} for key, term in found.items()}

    def text(self, results: LessonResults, insert: Insert) -> str:
        """Markdown with numbers filled in, and claims as returned by `insert`."""

        def others(of: str, hole: str) -> str:
            return (
                insert(hole[2:-2].partition(":")[2].strip()) if of == "claim" else results.insert(self.lang, of, hole)
            )

        text = str(self.table.get("body", self.table.get("intro", "")))
        return fill_numbers(text, {part: insert(part) for part in PARTS if f"{{{{{part}}}}}" in text}, others)


@dataclass(frozen=True)
class Chapter:
    """Lessons that belong together."""

    name: str
    number: int
    title: str
    lessons: tuple[LessonView, ...]

    @property
    def stop(self) -> Stop:
        return Stop(f"chapter-{self.name}", f"{self.number} {self.title}")


@dataclass(frozen=True)
class Stop:
    """A place in the book that can be linked to."""

    anchor: str
    title: str


@dataclass(frozen=True)
class Turn:
    """The places before and after a place; None at the ends."""

    previous: Stop | None
    next: Stop | None


def turns(stops: Sequence[Stop]) -> dict[str, Turn]:
    """The turn of every place in a sequence, by its anchor."""
    around: list[Stop | None] = [None, *stops, None]
    return {stop.anchor: Turn(around[at], around[at + 2]) for at, stop in enumerate(stops)}


@dataclass(frozen=True)
class Book:
    """The whole report in one language."""

    lang: str
    results: LessonResults = field(default_factory=LessonResults)

    @cached_property
    def first(self) -> list[Page]:
        return [Page(name, self.lang) for name in FIRST if name in _pages(self.lang)]

    @cached_property
    def last(self) -> list[Page]:
        """The pages after the lessons; those without a set order come before the glossary."""
        there = _pages(self.lang)
        others = sorted(set(there) - set(FIRST) - set(LAST))
        return [Page(name, self.lang) for name in [*LAST[:-1], *others, LAST[-1]] if name in there]

    @cached_property
    def chapters(self) -> list[Chapter]:
        titles = index.chapters(self.lang)
        return [
            Chapter(name, number, title, tuple(LessonView(one, self.lang, self.results) for one in CHAPTERS[name]))
            for number, (name, title) in enumerate(titles.items(), 1)
        ]

    @cached_property
    def lessons(self) -> list[LessonView]:
        return [view for chapter in self.chapters for view in chapter.lessons]

    @cached_property
    def stops(self) -> dict[str, Stop]:
        """Every lesson as a place, by its name."""
        return {view.name: Stop(view.name, f"{NUMBERS[view.name]} {view.title}") for view in self.lessons}

    @cached_property
    def turns(self) -> dict[str, Turn]:
        """Previous and next for all pages and lessons, and for all chapters, in the order of the contents."""
        pages = {page: Stop(f"page-{page.name}", page.title) for page in [*self.first, *self.last]}
        row = [*(pages[page] for page in self.first), *self.stops.values(), *(pages[page] for page in self.last)]
        return turns(row) | turns([chapter.stop for chapter in self.chapters])

    @cached_property
    def pictures(self) -> dict[str, Picture]:
        found = {view.name: picture(view) for view in self.lessons}
        return {name: each for name, each in found.items() if each is not None}

    @cached_property
    def answers(self) -> dict[str, JudgedClaim | None]:
        """Every claim with its answer; None: not measured yet."""
        return {claim: self.results.answer(claim, self.lang) for claim in index.claims()}

    @cached_property
    def tally(self) -> dict[str, list[str]]:
        """The claims of each verdict, in reading order; under "" those not measured."""
        found: dict[str, list[str]] = {verdict: [] for verdict in MARKS}
        for claim, answer in self.answers.items():
            found.setdefault("" if answer is None else answer.verdict, []).append(claim)
        return found

    @cached_property
    def sources(self) -> dict[str, str]:
        """The source files that lessons name, each once: path → text."""
        paths = dict.fromkeys(path for view in self.lessons for path in view.lesson.sources)
        root = Path(glassformer.words.__file__).parents[1]
        return {path: (root / path).read_text(encoding="utf-8") for path in paths if (root / path).is_file()}


def _pages(lang: str) -> list[str]:
    folder = Path(glassformer.words.__file__).parent / lang / "pages"
    return sorted(path.stem for path in folder.glob("*.toml"))
