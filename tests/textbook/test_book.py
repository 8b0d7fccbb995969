from __future__ import annotations

import pytest

from glassformer.lessons.catalogue import LESSONS
from glassformer.lessons.index import claims
from glassformer.textbook.book import LAST, Book, Page, _pages
from glassformer.words import LANGUAGES

pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.mark.slow
@pytest.mark.parametrize("lang", LANGUAGES)
def test_everything_is_in_it_once(lang: str) -> None:
    book = Book(lang)
    assert [view.name for view in book.lessons] == list(LESSONS)
    assert list(book.answers) == list(claims())
    names = [page.name for page in [*book.first, *book.last]]
    assert sorted(names) == _pages(lang) and names[0] == "welcome" and names[-1] == "glossary"
    assert [chapter.number for chapter in book.chapters] == list(range(1, len(book.chapters) + 1))


def test_both_languages_have_the_same_pages() -> None:
    assert _pages("en") == _pages("ko")
    assert set(LAST) >= set(_pages("en")) - {"welcome"}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_pages_have_their_claims(lang: str) -> None:
    asked: list[str] = []

    def insert(claim: str) -> str:
        asked.append(claim)
        return "here"

    book = Book(lang)
    for page in [*book.first, *book.last]:
        assert "{{" not in page.text(book.results, insert)
    assert {"map", "tally", "paths", "claims"} <= set(asked) and "scale-variance" in asked


def test_the_glossary_has_terms_and_the_sources_are_files() -> None:
    assert len(Page("glossary", "ko").terms) > 20
    assert Page("welcome", "ko").terms == {}
    assert all(text.strip() for text in Book("en").sources.values())
