"""The report as one HTML file: everything is inside it, nothing is fetched. The frame stands in templates/."""

from __future__ import annotations

import json
from functools import cache, cached_property
from html import escape
from pathlib import Path
from string import Template

from glassformer.show.theme import DARK, LIGHT, Theme
from glassformer.textbook.book import Book, Chapter, Page
from glassformer.textbook.breaks import kept
from glassformer.textbook.cards import Say, claims_table, inline, turn
from glassformer.textbook.front import map_html, paths_html, tally_html
from glassformer.textbook.languages import marked
from glassformer.textbook.lesson import lesson_html, source_id
from glassformer.textbook.predicted import Card
from glassformer.textbook.prose import html, line
from glassformer.textbook.run import RunChapter
from glassformer.textbook.run_page import run_html
from glassformer.words import LANGUAGES, say

TEMPLATES = Path(__file__).parent / "templates"
RELOAD = 8  # seconds, while there is something to wait for
MARK = "\ue000{}\ue001"  # where a claim stands in a text, until it is HTML


@cache
def template(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def filled(name: str, **values: str) -> str:
    return Template(template(name)).substitute(values)


class Printer:
    """Makes the page of a book; what does not depend on the run is made once."""

    def __init__(self, book: Book, others: tuple[str, ...] = ()) -> None:
        """`others` are languages whose report stands beside this one."""
        self.book, self.words = book, Say(book.lang)
        self.others = [lang for lang in others if lang != book.lang]

    @cached_property
    def text(self) -> str:
        """Pages and lessons, with the pictures that are drawn by now."""
        return body(self.book, self.words)

    def page(self, run: RunChapter | None = None, card: Card | None = None, *, unfinished: bool = False) -> str:
        """The whole page. `unfinished`: pictures are still being drawn, so it loads itself again; so does a run's."""
        words, again = self.words, unfinished or (run is not None and run.running)
        script = {key: words(f"script.{key}") for key in ("found", "nothing", "light", "dark", "sideways")}
        labels = ("skip", "contents", "search", "deep_texts", "theme", "results", "foot", "title")
        return filled(
            "page.html",
            **{key: escape(words(key)) for key in labels},
            lang=self.book.lang,
            brand="Glassformer",
            colours=colours(),
            style=template("style.css"),
            script=template("page.js"),
            said=escape(json.dumps(script, ensure_ascii=False)),
            reload=str(RELOAD if again else 0),
            languages="".join(map(_language, self.others)),
            table=contents(self.book, words, run is not None),
            run="" if run is None else kept(marked(run_html(run, card, words), self.book.lang)),
            body=body(self.book, words, unfinished=True) if unfinished else self.text,
        )


def _language(lang: str) -> str:
    name = say("report.language", lang)
    return f'<a class="button" lang="{lang}" hreflang="{lang}" href="report.{lang}.html">{escape(name)}</a>'


def colours() -> str:
    """The themes of the pictures as variables, so that page and pictures are of one piece."""

    def variables(theme: Theme) -> str:
        return "".join(f"--{name}:{value};" for name, value in theme.colours.items())

    dark = f"{variables(DARK)}color-scheme:dark;"
    return (
        f":root{{{variables(LIGHT)}color-scheme:light;}}"
        f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}"
        f":root[data-theme=dark]{{{dark}}}"
    )


# --- contents ---


def contents(book: Book, words: Say, with_run: bool) -> str:
    parts = [_entry("run", words("run.title"))] if with_run else []
    parts += [_entry(f"page-{one.name}", one.title) for one in book.first]
    for chapter in book.chapters:
        lessons = "".join(_entry(view.name, view.title) for view in chapter.lessons)
        parts.append(_entry(chapter.stop.anchor, chapter.stop.title, f"<ol>{lessons}</ol>"))
    parts += [_entry(f"page-{one.name}", one.title) for one in book.last]
    parts.append(_entry("sources", words("sources")))
    return f"<ol>{''.join(parts)}</ol>"


def _entry(anchor: str, title: str, inner: str = "") -> str:
    return f'<li><a href="#{anchor}">{escape(title)}</a>{inner}</li>'


# --- what is read ---


def body(book: Book, words: Say, *, unfinished: bool = False) -> str:
    parts: list[str] = []
    parts += [page_html(one, book, words) for one in book.first]
    parts += [chapter_html(chapter, book, words, unfinished) for chapter in book.chapters]
    parts += [page_html(one, book, words) for one in book.last]
    return kept(marked("\n".join(parts), book.lang)) + sources_html(book, words)


def page_html(one: Page, book: Book, words: Say) -> str:
    inserts: dict[str, str] = {}

    parts = {"map": map_html, "tally": tally_html, "paths": paths_html, "claims": claims_table}

    def insert(name: str) -> str:
        """A mark now, HTML once the text around it is HTML."""
        made = parts[name](book, words) if name in parts else inline(name, book.answers.get(name), words)
        inserts[MARK.format(name)] = made
        return MARK.format(name)

    made = html(one.text(book.results, insert), inserts=inserts)
    other = next(lang for lang in LANGUAGES if lang != book.lang)
    terms = "".join(
        f'<div id="term-{key}" data-find="{escape(term["term"])}"><dt>{escape(term["term"])} '
        f'<span class="other" lang="{other}">{escape(term.get("other", ""))}</span></dt>'
        f"<dd>{line(term['meaning'])}</dd></div>"
        for key, term in one.terms.items()
    )
    glossary = f'<dl class="glossary">{terms}</dl>' if terms else ""
    return (
        f'<section class="page" id="page-{one.name}" data-find="{escape(one.title)}"><h2>{escape(one.title)}</h2>'
        f"{made}{glossary}{turn(book.turns[f'page-{one.name}'], words)}</section>"
    )


def chapter_html(chapter: Chapter, book: Book, words: Say, unfinished: bool) -> str:
    lessons = "\n".join(lesson_html(view, book, words, unfinished=unfinished) for view in chapter.lessons)
    eyebrow = escape(words("chapter", number=chapter.number))
    return (
        f'<section class="chapter" id="chapter-{chapter.name}"><header><p class="eyebrow">{eyebrow}</p>'
        f"<h2>{escape(chapter.title)}</h2>{turn(book.turns[chapter.stop.anchor], words)}</header>{lessons}</section>"
    )


def sources_html(book: Book, words: Say) -> str:
    files = "".join(
        f'<details id="{source_id(path)}"><summary><code>src/glassformer/{escape(path)}</code></summary>'
        f'<pre tabindex="0"><code>{escape(text)}</code></pre></details>'
        for path, text in book.sources.items()
    )
    return (
        f'<section class="page" id="sources"><h2>{escape(words("sources"))}</h2>'
        f"<p>{escape(words('sources_intro'))}</p>{files}</section>"
    )
