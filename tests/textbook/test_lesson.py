from __future__ import annotations

from dataclasses import replace

import pytest

from glassformer.lessons.lesson_results import LessonResults
from glassformer.lessons.record import RECORDED, LessonResult
from glassformer.lessons.view import LessonView
from glassformer.textbook.book import Book
from glassformer.textbook.cards import Say
from glassformer.textbook.lesson import lesson_html, source_id
from glassformer.textbook.pictures import draw

NAME = "scaled_scores"


pytestmark = pytest.mark.usefixtures("own_cache")


def made(results: LessonResults, lang: str = "en", *, unfinished: bool = False) -> str:
    return lesson_html(LessonView(NAME, lang, results), Book(lang, results), Say(lang), unfinished=unfinished)


def test_all_that_belongs_to_a_lesson() -> None:
    results = LessonResults()
    picture = Book("en", results).pictures[NAME]
    draw([picture], 1, lambda name, share: None)
    html = made(results)
    for part in ("<math ", "<svg ", "<figcaption>", 'id="claim-scale-variance"', "§3.2.1", "seeds 0–4"):
        assert part in html, part
    assert 'href="#source-layers-attention-kernel"' in html and "glassformer lesson scaled_scores --json" in html
    assert "arrow keys" in html and "{{" not in html


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
