"""The report as one self-contained HTML file: nothing is fetched. Its HTML is in templates/."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property
from typing import Any

from markupsafe import Markup

from glassformer.lessons.catalogue import NUMBERS
from glassformer.lessons.view import LessonView, provenance
from glassformer.show import minus
from glassformer.show.template import macros, render
from glassformer.show.theme import DARK, LIGHT, Theme
from glassformer.textbook import front
from glassformer.textbook.book import PAGES, Book, Chapter, Page, Say
from glassformer.textbook.predicted import Card
from glassformer.textbook.prose import html, kept, line, marked, mathml
from glassformer.textbook.run import RunChapter
from glassformer.textbook.run_page import run_html
from glassformer.words import LANGUAGES, say

RELOAD = 8  # seconds, while there is something to wait for
MOST_NUMBERS = 60  # rows
INTERVAL = {"mean", "low", "high", "n"}
MARK = "\ue000{}\ue001"  # placeholder of a claim in a text until the text is HTML


@cache
def asset(name: str) -> Markup:
    """A style sheet or script, inserted unescaped."""
    return Markup((PAGES / name).read_text(encoding="utf-8"))


class Printer:
    """Makes the page of a book; parts that do not depend on the run are made once."""

    def __init__(self, book: Book, others: tuple[str, ...] = ()) -> None:
        """`others`: languages of the reports beside this one."""
        self.book, self.words = book, Say(book.lang)
        self.languages = {lang: say("report.language", lang) for lang in others if lang != book.lang}

    @cached_property
    def text(self) -> Markup:
        """Pages and lessons, with the pictures drawn so far."""
        return self.body()

    def page(self, run: RunChapter | None = None, card: Card | None = None, *, unfinished: bool = False) -> str:
        """The whole page. It reloads itself while pictures are being drawn (`unfinished`) or a run is going on."""
        words, again = self.words, unfinished or (run is not None and run.running)
        script = {key: words(f"script.{key}") for key in ("found", "nothing", "light", "dark", "sideways")}
        values = {
            "lang": self.book.lang,
            "languages": self.languages,
            "colours": colours(),
            "style": asset("style.css"),
            "before": asset("before.js"),
            "script": asset("page.js"),
            "said": json.dumps(script, ensure_ascii=False),
            "reload": RELOAD if again else 0,
            "run": "" if run is None else kept(marked(run_html(run, card, words), self.book.lang)),
            "body": self.body(unfinished=True) if unfinished else self.text,
        }
        return self._made("page.html", values) + "\n"

    def body(self, *, unfinished: bool = False) -> Markup:
        """The text: pages, chapters with their lessons, more pages, sources."""
        parts = [
            *map(self.page_html, self.book.first),
            *(self.chapter_html(chapter, unfinished) for chapter in self.book.chapters),
            *map(self.page_html, self.book.last),
        ]
        text = kept(marked("\n".join(parts), self.book.lang))
        return text + self._made("sources.html", {"source_id": source_id})

    def page_html(self, page: Page) -> Markup:
        inserts: dict[str, str] = {}

        def insert(name: str) -> str:
            """A placeholder, replaced by HTML once the text around it is HTML."""
            inserts[MARK.format(name)] = self.insert(name)
            return MARK.format(name)

        text = html(page.text(self.book.results, insert), inserts=inserts)
        other = next(lang for lang in LANGUAGES if lang != self.book.lang)
        return self._made("text.html", {"page": page, "text": text, "other": other, "line": line})

    def insert(self, name: str) -> Markup:
        """A part that a page may contain besides text, or a claim in the text."""
        book, claims, first = self.book, self.macros("claims.html"), self.macros("front.html")
        parts: dict[str, Callable[[], Markup]] = {
            "map": lambda: first.map(front.boxes(book), front.picture(book)),
            "tally": lambda: first.tally(book),
            "paths": lambda: first.paths(front.paths(book)),
            "claims": lambda: claims.table(book),
        }
        return parts[name]() if name in parts else claims.inline(name, book.answers.get(name))

    def chapter_html(self, chapter: Chapter, unfinished: bool) -> Markup:
        lessons = [self.lesson_html(view, unfinished=unfinished) for view in chapter.lessons]
        return self._made("chapter.html", {"chapter": chapter, "lessons": lessons})

    def lesson_html(self, view: LessonView, *, unfinished: bool = False) -> Markup:
        values = {
            "view": view,
            "number": NUMBERS[view.name],
            "numbers": number_rows(view.data),
            "picture": self.book.pictures.get(view.name),
            "unfinished": unfinished,
            **{each.__name__: each for each in (html, line, mathml, provenance, source_id)},
        }
        return self._made("lesson.html", values)

    def macros(self, template: str) -> Any:
        """The macros of a template: parts of the page as functions."""
        return macros(PAGES / template, {"words": self.words})

    def _made(self, template: str, values: Mapping[str, Any]) -> Markup:
        return render(PAGES / template, {"book": self.book, "words": self.words, **values})


def source_id(path: str) -> str:
    """The anchor of a source file."""
    return "source-" + path.removesuffix(".py").replace("/", "-")


def colours() -> Markup:
    """The themes of the pictures as variables, so that page and pictures match."""

    def variables(theme: Theme) -> str:
        return "".join(f"--{name}:{value};" for name, value in theme.colours.items())

    dark = f"{variables(DARK)}color-scheme:dark;"
    return Markup(
        f":root{{{variables(LIGHT)}color-scheme:light;}}"
        f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}"
        f":root[data-theme=dark]{{{dark}}}"
    )


# --- the numbers of a lesson ---


def number_rows(data: Any) -> list[tuple[str, str]]:
    """The first values of a tree of JSON, each under its path; long lists are left to `lesson --json`."""
    found = list(_walk("", data))
    return found[:MOST_NUMBERS]


def _walk(path: str, value: Any) -> Iterator[tuple[str, str]]:
    match value:
        case dict() if set(value) >= INTERVAL:
            yield path, interval(value)
        case dict():
            for key, inner in value.items():
                yield from _walk(f"{path}.{key}" if path else str(key), inner)
        case list() if all(not isinstance(item, dict | list) for item in value):
            if len(value) <= 12:
                yield path, ", ".join(map(plain, value))
        case list() if len(value) <= 12:
            for number, inner in enumerate(value):
                yield from _walk(f"{path}.{number}", inner)
        case list():
            return
        case _:
            yield path, plain(value)


def interval(value: dict[str, Any]) -> str:
    """mean [low, high], n seeds."""
    return f"{plain(value['mean'])} [{plain(value['low'])}, {plain(value['high'])}], n = {value['n']}"


def plain(value: Any) -> str:
    return "–" if value is None else minus(f"{value:.5g}") if isinstance(value, float) else str(value)
