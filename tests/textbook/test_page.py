from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from glassformer.lessons.catalogue import CHAPTERS, LESSONS
from glassformer.show.theme import DARK, LIGHT
from glassformer.textbook.book import Book
from glassformer.textbook.page import TEMPLATES, Printer, colours
from glassformer.words import LANGUAGES

HANGUL = re.compile(r"[가-힣]")
VOID = {"meta", "link", "input", "br", "hr", "img"}


pytestmark = pytest.mark.usefixtures("own_cache")


class Reader(HTMLParser):
    """Ids, links, and whether what is opened is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.ids += [str(found["id"])] if "id" in found else []
        self.links += [str(found["href"])] if "href" in found else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_page_is_whole(lang: str) -> None:
    text = Printer(Book(lang), LANGUAGES).page()
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    assert len(reader.ids) == len(set(reader.ids))
    inside = [link.removeprefix("#") for link in reader.links if link.startswith("#")]
    assert not set(inside) - set(reader.ids)
    assert f'<html lang="{lang}"' in text and "\ue000" not in text and "{{" not in text.split("<script>")[0]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_nothing_is_fetched(lang: str) -> None:
    text = Printer(Book(lang)).page()
    assert not re.search(r"""(src|srcset|@import|url)\s*[=(]\s*["']?https?:""", text)
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=\"(?!data:)", text)


def test_a_page_that_is_not_finished_loads_itself_again() -> None:
    printer = Printer(Book("en"))
    assert 'data-reload="8"' in printer.page(unfinished=True)
    assert 'data-reload="0"' in printer.page()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_one_leaf_leads_to_the_next(lang: str) -> None:
    """From the first page through every lesson to the last, and back; chapters in a row of their own."""
    book = Book(lang)
    text = Printer(book).page()
    lessons = list(LESSONS)
    pages = [f"page-{page.name}" for page in [*book.first, *book.last]]
    first, last = pages[: len(book.first)], pages[len(book.first) :]
    for row in ([*first, *lessons, *last], [f"chapter-{name}" for name in CHAPTERS]):
        for before, after in pairwise(row):
            assert f'rel="next" href="#{after}"' in _part(text, before), before
            assert f'rel="prev" href="#{before}"' in _part(text, after), after
    assert [
        place for place in re.findall(r'<li><a href="#(\w+)">', text.split("<main")[0]) if place in LESSONS
    ] == lessons


def _part(text: str, anchor: str) -> str:
    """From an anchor to its way onwards."""
    start = text.index(f'id="{anchor}"')
    return text[start : text.index("</p>", text.index('<p class="turn">', start))]


def test_words_of_the_other_language_are_marked() -> None:
    english = Printer(Book("en")).page()
    assert '<span lang="ko">나는 학교에 간다</span>' in english
    assert 'class="other" lang="ko"' in english and 'class="other" lang="en"' in Printer(Book("ko")).page()


def test_templates_speak_no_language() -> None:
    for path in TEMPLATES.iterdir():
        text = path.read_text(encoding="utf-8")
        assert not HANGUL.search(text), path
    whole = (TEMPLATES / "page.html").read_text(encoding="utf-8")
    words = re.sub(r"<script>.*?</script>|<[^>]*>|\$\w+", "", whole, flags=re.DOTALL)
    assert not re.search(r"[A-Za-z]{2}", words)


def test_both_themes_are_variables() -> None:
    made = colours()
    assert f"--ink:{LIGHT.ink};" in made and f"--ink:{DARK.ink};" in made
    assert "prefers-color-scheme:dark" in made and "[data-theme=dark]" in made


def test_the_other_language_stands_beside() -> None:
    assert 'href="report.ko.html"' in Printer(Book("en"), ("en", "ko")).page()
    assert 'href="report.ko.html"' not in Printer(Book("en"), ("en",)).page()
