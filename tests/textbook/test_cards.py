from __future__ import annotations

from dataclasses import replace
from html import escape
from pathlib import Path

import pytest

from glassformer.lessons.lesson_results import JudgedClaim, LessonResults
from glassformer.lessons.verdict import WORDS
from glassformer.textbook.book import Book, Stop, turns
from glassformer.textbook.cards import Say, badge, card, claims_table, figure, inline, turn
from glassformer.words import LANGUAGES, say

CLAIM = "scale-variance"


@pytest.fixture
def answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> JudgedClaim:
    monkeypatch.setenv("GLASSFORMER_CACHE", str(tmp_path))
    found = LessonResults().answer(CLAIM, "en")
    assert found is not None
    return replace(found, says="a < b")


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("verdict", ["confirmed", "refuted", "depends"])
def test_a_verdict_is_a_sign_and_a_word(lang: str, verdict: str, answer: JudgedClaim) -> None:
    words = Say(lang)
    made = badge(replace(answer, verdict=verdict), words)
    assert words.verdict(verdict) in made and f'class="badge {verdict}"' in made and 'aria-hidden="true"' in made
    assert words("stale") in badge(replace(answer, stale=True), words)
    assert words("unmeasured") in badge(None, words)


def test_a_card_says_what_how_and_how_again(answer: JudgedClaim) -> None:
    made = card(CLAIM, "A claim", replace(answer, condition="only if"), Say("en"))
    assert "a &lt; b" in made and "only if" in made and "glassformer claims scale-variance --fresh" in made
    assert f'id="claim-{CLAIM}"' in made
    unknown = card(CLAIM, "A claim", None, Say("en"))
    assert "not measured yet" in unknown and "glassformer claims scale-variance --fresh" in unknown


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("verdict", WORDS)
def test_a_card_says_the_rule_of_its_verdict(lang: str, verdict: str, answer: JudgedClaim) -> None:
    words = Say(lang)
    made = card(CLAIM, "A claim", replace(answer, verdict=verdict), words)
    assert made.count(escape(say(f"meanings.{verdict}", lang))) == 1
    others = [escape(say(f"meanings.{other}", lang)) for other in WORDS if other != verdict]
    assert not any(other in made for other in others)
    assert 'class="rule"' not in card(CLAIM, "A claim", None, words)


def test_inside_a_text_it_leads_to_its_card(answer: JudgedClaim) -> None:
    assert f'<a href="#claim-{CLAIM}">' in inline(CLAIM, answer, Say("ko"))
    assert "<a " not in inline("unknown", None, Say("ko"))


def test_the_table_of_all_is_in_order_of_verdicts() -> None:
    book = Book("en")
    made = claims_table(book, Say("en"))
    assert made.count("<tr><td>") == len(book.answers)
    for verdict, claims in book.tally.items():
        assert (f'id="claims-{verdict}"' in made) == bool(claims)
    groups = made.split("<tbody>")[1:]
    for group, (verdict, claims) in zip(groups, ((v, c) for v, c in book.tally.items() if c), strict=True):
        assert f'id="claims-{verdict}"' in group and f"#claim-{claims[0]}" in group


def test_a_card_shows_what_decides_and_folds_the_rest_once(answer: JudgedClaim) -> None:
    made = card(CLAIM, "A claim", replace(answer, says="first 1.5 of 1, 2, 3, 4, 5, 6, 7, 8. Second 2.5."), Say("en"))
    shown, folded = made.split("<details>")
    assert "first 1.5" in shown and "Second 2.5" in folded and made.count("2.5") == made.count("1.5") == 1
    depends = card(CLAIM, "A claim", replace(answer, says="many numbers", condition="only if 3"), Say("en"))
    shown, folded = depends.split("<details>")
    assert "only if" in shown and "many numbers" in folded and depends.count("many numbers") == 1
    assert "<details>" not in card(CLAIM, "A claim", answer, Say("en"))


def test_a_way_to_both_neighbours() -> None:
    places = turns([Stop("a", "A"), Stop("b", "B & C"), Stop("c", "D")])
    made = turn(places["b"], Say("en"))
    assert '<a rel="prev" href="#a">' in made and '<a rel="next" href="#c">' in made
    assert "prev" not in turn(places["a"], Say("en")) and "B &amp; C" in turn(places["c"], Say("en"))


def test_a_picture_in_its_box() -> None:
    made = figure("<svg></svg>", 'a "label"', "<b>x</b>", Say("en"))
    assert 'tabindex="0" role="group" aria-label="a &quot;label&quot;"' in made and "<b>x</b>" in made
