from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

from glassformer.lessons.catalogue import LESSONS, lesson
from glassformer.textbook.book import Book
from glassformer.textbook.markdown import blocks, picture_name, write_markdown
from glassformer.textbook.pictures import draw
from glassformer.words import LANGUAGES

pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.mark.slow
@pytest.mark.parametrize("lang", LANGUAGES)
def test_text_pictures_and_numbers(lang: str, tmp_path: Path) -> None:
    book = Book(lang)
    draw([book.pictures["scaled_scores"]], 1, lambda name, share: None)
    path = write_markdown(book, tmp_path)
    text = path.read_text(encoding="utf-8")
    assert path.name == f"report.{lang}.md" and "{{" not in text
    assert f"](pictures/{lang}/scaled_scores.png)" in text
    assert (tmp_path / "pictures" / lang / "scaled_scores.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((tmp_path / "numbers" / "scaled_scores.json").read_text())["name"] == "scaled_scores"
    assert "glassformer claims scale-variance --fresh" in text and "softmax(Q Kᵀ / √d_k) V" in text


def test_every_picture_has_a_name_of_its_own() -> None:
    book = Book("en")
    names = [picture_name(book, name) for name in LESSONS]
    assert len(names) == len(set(names))
    assert names == [lesson(name).picture or name for name in LESSONS]


def test_headings_go_down_one_at_a_time() -> None:
    text = re.sub(r"^```.*?^```", "", "\n\n".join(blocks(Book("ko"))), flags=re.DOTALL | re.MULTILINE)
    levels = [len(marks) for marks in re.findall(r"^(#+) ", text, re.MULTILINE)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_a_lesson_that_was_not_measured_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glassformer.lessons.lesson_results.recorded", lambda name: None)
    text = "\n".join(blocks(Book("en")))
    assert "has not been measured yet" in text and "![" not in text and "not measured yet" in text
