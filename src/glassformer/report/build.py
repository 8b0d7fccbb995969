"""Gathers everything, writes it early without pictures, draws these, and writes the whole: HTML and Markdown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from glassformer.lessons.shelf import Shelf
from glassformer.report import pictures
from glassformer.report.book import Book
from glassformer.report.markdown import write_markdown
from glassformer.report.page import page
from glassformer.report.run import RunChapter
from glassformer.runs.files import disk, write_text
from glassformer.words import LANGUAGES

Watch = Callable[[str, float], None]


def nobody(what: str, share: float) -> None:
    """Nobody watches."""


def build(
    out: Path,
    langs: Sequence[str] = LANGUAGES,
    *,
    shelf: Shelf | None = None,
    run: RunChapter | None = None,
    workers: int = 1,
    watch: Watch = nobody,
    readable: Callable[[list[Path]], None] = lambda paths: None,
) -> list[Path]:
    """report.LANG.html and report.LANG.md with pictures/LANG/*.png and numbers/*.json, in this folder.

    `readable` is told as soon as there is something to read, pictures or not.
    """
    with disk(out):
        out.mkdir(parents=True, exist_ok=True)
    shelf = shelf or Shelf()
    books = [Book(lang, shelf, run) for lang in langs]
    every = [each for book in books for each in book.pictures.values()]
    if not all(each.is_drawn for each in every):
        readable([_write(book, out, langs, unfinished=True) for book in books])
        pictures.draw(every, workers, watch)
    written = [_write(book, out, langs, unfinished=False) for book in books]
    return [*written, *(write_markdown(book, out) for book in books)]


def _write(book: Book, out: Path, langs: Sequence[str], *, unfinished: bool) -> Path:
    path = out / f"report.{book.lang}.html"
    write_text(path, page(book, unfinished=unfinished, others=tuple(langs)), durable=False)
    return path
