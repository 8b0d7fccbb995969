from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from markupsafe import Markup, escape

from glassformer.lessons.catalogue import CHAPTERS, LESSONS
from glassformer.lessons.lesson_results import JudgedClaim, LessonResults
from glassformer.lessons.record import RECORDED, LessonResult
from glassformer.lessons.verdict import WORDS
from glassformer.lessons.view import LessonView
from glassformer.show.theme import DARK, LIGHT
from glassformer.textbook.book import PAGES, Book, Say, Stop, turns
from glassformer.textbook.page import MOST_NUMBERS, Printer, colours, number_rows, source_id
from glassformer.textbook.pictures import draw
from glassformer.words import LANGUAGES, say

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


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("lang", LANGUAGES)
def test_nothing_is_fetched(lang: str) -> None:
    text = Printer(Book(lang)).page()
    assert not re.search(r"""(src|srcset|@import|url)\s*[=(]\s*["']?https?:""", text)
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=\"(?!data:)", text)


@pytest.mark.slow
def test_a_page_that_is_not_finished_loads_itself_again() -> None:
    printer = Printer(Book("en"))
    assert 'data-reload="8"' in printer.page(unfinished=True)
    assert 'data-reload="0"' in printer.page()


@pytest.mark.slow
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


@pytest.mark.slow
def test_words_of_the_other_language_are_marked() -> None:
    english = Printer(Book("en")).page()
    assert '<span lang="ko">나는 학교에 간다</span>' in english
    assert 'class="other" lang="ko"' in english and 'class="other" lang="en"' in Printer(Book("ko")).page()


def test_templates_speak_no_language() -> None:
    for path in PAGES.iterdir():
        text = path.read_text(encoding="utf-8")
        assert not HANGUL.search(text), path
    known = {"Glassformer", "glassformer", "claims", "lesson", "fresh", "json", "src", "nbsp"}  # names and commands
    for path in PAGES.glob("*.html"):
        whole = path.read_text(encoding="utf-8")
        words = re.sub(r"<script>.*?</script>|\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<[^>]*>", "", whole, flags=re.DOTALL)
        assert not set(re.findall(r"[A-Za-z]{2,}", words)) - known, path


def test_both_themes_are_variables() -> None:
    made = colours()
    assert f"--ink:{LIGHT.ink};" in made and f"--ink:{DARK.ink};" in made
    assert "prefers-color-scheme:dark" in made and "[data-theme=dark]" in made


@pytest.mark.slow
def test_the_other_language_stands_beside() -> None:
    assert 'href="report.ko.html"' in Printer(Book("en"), ("en", "ko")).page()
    assert 'href="report.ko.html"' not in Printer(Book("en"), ("en",)).page()


# --- a lesson ---

NAME = "scaled_scores"


def made(results: LessonResults, lang: str = "en", *, unfinished: bool = False) -> str:
    return Printer(Book(lang, results)).lesson_html(LessonView(NAME, lang, results), unfinished=unfinished)


@pytest.mark.slow
def test_all_that_belongs_to_a_lesson() -> None:
    results = LessonResults()
    picture = Book("en", results).pictures[NAME]
    draw([picture], 1, lambda name, share: None)
    html = made(results)
    for part in ("<math ", "<svg ", "<figcaption>", 'id="claim-scale-variance"', "§3.2.1", "seeds 0–4"):
        assert part in html, part
    assert 'href="#source-layers-attention-kernel"' in html and "glassformer lesson scaled_scores --json" in html
    assert "arrow keys" in html and "{{" not in html


@pytest.mark.slow
def test_a_picture_that_is_not_drawn_yet() -> None:
    assert "The picture is being drawn" in made(LessonResults(), unfinished=True)
    assert "The picture is missing" in made(LessonResults())


def test_a_stale_result_is_marked() -> None:
    result = replace(LessonResult.read(RECORDED / f"{NAME}.json"), fingerprint="another")
    html = made(LessonResults({NAME: result}), "ko")
    assert "측정한 뒤에 코드가 바뀌었습니다" in html and "갱신 필요" in html


def test_a_lesson_that_was_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glassformer.lessons.lesson_results.recorded", lambda name: None)
    html = made(LessonResults())
    assert "not been measured yet" in html and "glassformer lesson scaled_scores --fresh" in html
    assert "<figure>" not in html and "<footer>" not in html


def test_the_anchor_of_a_file() -> None:
    assert source_id("layers/attention/kernel.py") == "source-layers-attention-kernel"


# --- claims, and parts that come more than once ---

CLAIM = "scale-variance"


def claims(lang: str = "en") -> Any:
    return Printer(Book(lang)).macros("claims.html")


def parts(lang: str = "en") -> Any:
    return Printer(Book(lang)).macros("parts.html")


@pytest.fixture
def answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> JudgedClaim:
    monkeypatch.setenv("GLASSFORMER_CACHE", str(tmp_path))
    found = LessonResults().answer(CLAIM, "en")
    assert found is not None
    return replace(found, says="a < b")


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("verdict", ["confirmed", "refuted", "depends"])
def test_a_verdict_is_a_sign_and_a_word(lang: str, verdict: str, answer: JudgedClaim) -> None:
    words, badge = Say(lang), claims(lang).badge
    made = badge(replace(answer, verdict=verdict))
    assert words.verdict(verdict) in made and f'class="badge {verdict}"' in made and 'aria-hidden="true"' in made
    assert words("stale") in badge(replace(answer, stale=True))
    assert words("unmeasured") in badge(None)


def test_a_card_says_what_how_and_how_again(answer: JudgedClaim) -> None:
    made = claims().card(CLAIM, "A claim", replace(answer, condition="only if"))
    assert "a &lt; b" in made and "only if" in made and "glassformer claims scale-variance --fresh" in made
    assert f'id="claim-{CLAIM}"' in made
    unknown = claims().card(CLAIM, "A claim", None)
    assert "not measured yet" in unknown and "glassformer claims scale-variance --fresh" in unknown


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("verdict", WORDS)
def test_a_card_says_the_rule_of_its_verdict(lang: str, verdict: str, answer: JudgedClaim) -> None:
    card = claims(lang).card
    made = card(CLAIM, "A claim", replace(answer, verdict=verdict))
    assert made.count(escape(say(f"meanings.{verdict}", lang))) == 1
    others = [escape(say(f"meanings.{other}", lang)) for other in WORDS if other != verdict]
    assert not any(other in made for other in others)
    assert 'class="rule"' not in card(CLAIM, "A claim", None)


def test_inside_a_text_it_leads_to_its_card(answer: JudgedClaim) -> None:
    assert f'<a href="#claim-{CLAIM}">' in claims("ko").inline(CLAIM, answer)
    assert "<a " not in claims("ko").inline("unknown", None)


@pytest.mark.slow
def test_the_table_of_all_is_in_order_of_verdicts() -> None:
    book = Book("en")
    made = claims().table(book)
    assert made.count("<tr><td>") == len(book.answers)
    for verdict, ids in book.tally.items():
        assert (f'id="claims-{verdict}"' in made) == bool(ids)
    groups = made.split("<tbody>")[1:]
    for group, (verdict, ids) in zip(groups, ((v, c) for v, c in book.tally.items() if c), strict=True):
        assert f'id="claims-{verdict}"' in group and f"#claim-{ids[0]}" in group


def test_a_card_shows_what_decides_and_folds_the_rest_once(answer: JudgedClaim) -> None:
    made = claims().card(CLAIM, "A claim", replace(answer, says="first 1.5 of 1, 2, 3, 4, 5, 6, 7, 8. Second 2.5."))
    shown, folded = made.split("<details>")
    assert "first 1.5" in shown and "Second 2.5" in folded and made.count("2.5") == made.count("1.5") == 1
    depends = claims().card(CLAIM, "A claim", replace(answer, says="many numbers", condition="only if 3"))
    shown, folded = depends.split("<details>")
    assert "only if" in shown and "many numbers" in folded and depends.count("many numbers") == 1
    assert "<details>" not in claims().card(CLAIM, "A claim", answer)


def test_a_way_to_both_neighbours() -> None:
    places = turns([Stop("a", "A"), Stop("b", "B & C"), Stop("c", "D")])
    made = parts().turn(places["b"])
    assert '<a rel="prev" href="#a">' in made and '<a rel="next" href="#c">' in made
    assert "prev" not in parts().turn(places["a"]) and "B &amp; C" in parts().turn(places["c"])


def test_a_picture_in_its_box() -> None:
    made = parts().figure(Markup("<svg></svg>"), 'a "label"', Markup("<b>x</b>"))
    assert 'tabindex="0" role="group" aria-label="a &#34;label&#34;"' in made and "<b>x</b>" in made
    assert "&lt;b&gt;" in parts().figure("", "", "<b>")  # what is not markup yet is escaped


# --- the numbers of a lesson ---


def test_values_under_their_paths() -> None:
    data = {
        "a": 1,
        "b": {"mean": 0.5, "low": 0.25, "high": 0.75, "n": 5, "values": [1, 2]},
        "c": [{"d": None}, {"d": 1 / 3}],
        "e": [1, 2.5],
    }
    assert number_rows(data) == [
        ("a", "1"),
        ("b", "0.5 [0.25, 0.75], n = 5"),
        ("c.0.d", "–"),
        ("c.1.d", "0.33333"),
        ("e", "1, 2.5"),
    ]


def test_long_lists_and_long_tables_are_cut() -> None:
    assert number_rows({"a": list(range(50)), "b": [{"c": 1}] * 50}) == []
    assert len(number_rows({str(i): i for i in range(200)})) == MOST_NUMBERS
