"""Builds the report: first without pictures, so that it can be read early, then whole; HTML and Markdown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from glassformer.files import disk, write_text
from glassformer.lessons.catalogue import LESSONS
from glassformer.lessons.lesson_results import LessonResults
from glassformer.lessons.measuring import NOBODY, Audience, cores, with_lessons
from glassformer.lessons.setup import nobody
from glassformer.lessons.trained_models import Watch
from glassformer.runs.output import claim_folder, mark_folder
from glassformer.textbook import pictures
from glassformer.textbook.book import Book
from glassformer.textbook.markdown import write_markdown
from glassformer.textbook.page import Printer
from glassformer.textbook.predicted import Card
from glassformer.textbook.predicted import card as predicted
from glassformer.textbook.run import RunChapter
from glassformer.words import LANGUAGES


@dataclass(frozen=True)
class Order:
    """What to build: where, in which languages, from which results, with which run."""

    out: Path
    langs: Sequence[str] = LANGUAGES
    results: LessonResults = field(default_factory=LessonResults)
    run: Path | None = None
    workers: int = 1


class Report:
    """`build` writes it all; `refresh` writes the chapter of the run again."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.books = [Book(lang, order.results) for lang in order.langs]
        self.printers = [Printer(book, tuple(order.langs)) for book in self.books]
        self.chapter = None if order.run is None else RunChapter(order.run)

    @property
    def card(self) -> Card | None:
        """Predicted against measured; measures this machine once. None during a run: each would disturb the other."""
        return None if self.chapter is None or self.chapter.running else self._card

    @cached_property
    def _card(self) -> Card | None:
        assert self.chapter is not None
        return predicted(self.chapter)

    def build(self, watch: Watch = nobody, readable: Callable[[list[Path]], None] = lambda paths: None) -> list[Path]:
        """Writes report.LANG.html and report.LANG.md with pictures/LANG/*.png and numbers/*.json; returns their paths.

        `readable` is called as soon as there is something to read, with or without pictures.
        """
        with disk(self.order.out):
            self.order.out.mkdir(parents=True, exist_ok=True)
        every = [each for book in self.books for each in book.pictures.values()]
        if not all(each.is_drawn for each in every):
            readable(self.write(unfinished=True))
            try:
                pictures.draw(every, self.order.workers, watch)
            except KeyboardInterrupt:
                self._write(None)  # otherwise the page would wait for pictures that nobody draws
                raise
        written = self.write()
        return [*written, *(write_markdown(book, self.order.out, self.chapter, self.card) for book in self.books)]

    def refresh(self) -> bool:
        """Reads the run again and writes the pages; returns whether it is still running."""
        assert self.order.run is not None
        self.chapter = RunChapter(self.order.run)
        self.write()
        return self.chapter.running

    def write(self, *, unfinished: bool = False) -> list[Path]:
        return self._write(None if unfinished else self.card, unfinished=unfinished)

    def _write(self, card: Card | None, *, unfinished: bool = False) -> list[Path]:
        paths = []
        for printer in self.printers:
            paths.append(self.order.out / f"report.{printer.book.lang}.html")
            text = printer.page(self.chapter, card, unfinished=unfinished)
            write_text(paths[-1], text, durable=False)
        return paths


def prepared_report(
    out: Path,
    langs: Sequence[str],
    run: Path | None = None,
    *,
    fresh: bool = False,
    force: bool = False,
    audience: Audience = NOBODY,
) -> tuple[Report, set[str]]:
    """A report ready to be built, the one way of the command and of Python; and the lessons that could not be measured.

    A folder that holds something else, or a run that is none, is refused before anything is measured. Lessons are
    measured with `fresh` alone: a page shows what is known. The folder is marked as ours, so that it can be renewed.
    """
    claim_folder(out, "report", force=force or any(out.glob("report.*.html")))  # an older one has no marker
    if run is not None:
        Report(Order(out, (), run=run))
    results, failed = with_lessons(list(LESSONS) if fresh else [], fresh=fresh, audience=audience)
    report = Report(Order(out, langs, results, run, workers=cores()))
    with disk(out):
        out.mkdir(parents=True, exist_ok=True)
    mark_folder(out, "report")
    return report, failed
