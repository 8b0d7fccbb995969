from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from glassformer.lessons.shelf import Answer, Shelf
from glassformer.report.cards import Say, badge, card, claims_table, figure, inline
from glassformer.words import LANGUAGES

CLAIM = "scale-variance"


@pytest.fixture
def answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Answer:
    monkeypatch.setenv("GLASSFORMER_CACHE", str(tmp_path))
    found = Shelf().answer(CLAIM, "en")
    assert found is not None
    return replace(found, says="a < b")


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("verdict", ["confirmed", "refuted", "depends"])
def test_a_verdict_is_a_sign_and_a_word(lang: str, verdict: str, answer: Answer) -> None:
    words = Say(lang)
    made = badge(replace(answer, verdict=verdict), words)
    assert words.verdict(verdict) in made and f'class="badge {verdict}"' in made and 'aria-hidden="true"' in made
    assert words("stale") in badge(replace(answer, stale=True), words)
    assert words("unmeasured") in badge(None, words)


def test_a_card_says_what_how_and_how_again(answer: Answer) -> None:
    made = card(CLAIM, "A claim", replace(answer, condition="only if"), Say("en"))
    assert "a &lt; b" in made and "only if" in made and "glassformer claims scale-variance --fresh" in made
    assert f'id="claim-{CLAIM}"' in made
    unknown = card(CLAIM, "A claim", None, Say("en"))
    assert "not measured yet" in unknown and "glassformer claims scale-variance --fresh" in unknown


def test_inside_a_text_it_leads_to_its_card(answer: Answer) -> None:
    assert f'<a href="#claim-{CLAIM}">' in inline(CLAIM, answer, Say("ko"))
    assert "<a " not in inline("unknown", None, Say("ko"))


def test_the_table_of_all(answer: Answer) -> None:
    made = claims_table({CLAIM: replace(answer, condition="if c"), "other": None}, Say("en"))
    assert made.count("<tr>") == 3 and "a &lt; b if c" in made


def test_a_picture_in_its_box() -> None:
    made = figure("<svg></svg>", 'a "label"', "<b>x</b>", Say("en"))
    assert 'tabindex="0" role="group" aria-label="a &quot;label&quot;"' in made and "<b>x</b>" in made
