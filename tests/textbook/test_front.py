from __future__ import annotations

import re

import pytest

from glassformer.lessons.catalogue import LESSONS, PATHS
from glassformer.textbook.book import Book, Say
from glassformer.textbook.front import BOXES, MAP, linked
from glassformer.textbook.markdown import map_markdown, paths_markdown, tally_markdown
from glassformer.textbook.page import Printer
from glassformer.textbook.pictures import draw
from glassformer.words import LANGUAGES

pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.mark.slow
@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_box_of_the_map_leads_to_its_lesson(lang: str) -> None:
    book = Book(lang)
    draw([book.pictures[MAP]], 1, lambda name, share: None)
    svg = linked(book.pictures[MAP].svg, book)
    titles = {view.name: view.title for view in book.lessons}
    for box in BOXES:
        assert set(box.lessons) <= set(LESSONS)
        for module in box.modules:
            found = re.search(rf'<title>{re.escape(module)} · [^<]*</title><a href="#(\w+)" aria-label="([^"]+)">', svg)
            assert found and found[1] == box.lessons[0] and found[2] == titles[box.lessons[0]], module
    assert svg.count("<a ") == svg.count("</a>") >= sum(len(box.modules) for box in BOXES)
    assert 'role="group"' in svg and 'id="architecture-' not in svg and "#architecture-" not in svg


def test_the_links_of_the_map_are_a_list_too() -> None:
    made = Printer(Book("en")).insert("map")
    assert "<svg" not in made  # not drawn yet
    for box in BOXES:
        assert all(f'<a href="#{name}">' in made for name in box.lessons)
    assert "![" in map_markdown(Book("ko")) and "(#worked_example)" in map_markdown(Book("ko"))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_tally_counts_every_claim_once_and_leads_to_them(lang: str) -> None:
    book, words = Book(lang), Say(lang)
    made = Printer(book).insert("tally")
    counts = dict(re.findall(r'href="#claims-(\w+)"><b>(\d+)</b>', made))
    assert sum(map(int, counts.values())) == len(book.answers)
    for verdict in counts:
        assert int(counts[verdict]) == sum(answer.verdict == verdict for answer in book.answers.values() if answer)
        assert words.verdict(verdict) in made and f"(#claims-{verdict})" in tally_markdown(book, words)


def test_what_was_not_measured_is_counted_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glassformer.lessons.lesson_results.recorded", lambda name: None)
    book = Book("en")
    assert f'<a href="#claims-open"><b>{len(book.answers)}</b> not measured yet</a>' in Printer(book).insert("tally")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_paths_by_hours(lang: str) -> None:
    made = Printer(Book(lang)).insert("paths").split("<details")[1:]
    for part, (hours, names) in zip(made, PATHS.items(), strict=True):
        assert str(hours) in part and re.findall(r'<li><a href="#(\w+)">', part) == list(names)
    assert paths_markdown(Book(lang), Say(lang)).count("](#architecture)") == len(PATHS)
