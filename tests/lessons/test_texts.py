from __future__ import annotations

import pytest

from glassformer.lessons.texts import PictureWords, fill_numbers, look_up, tables


def test_numbers_are_put_in_where_they_are_named() -> None:
    data = {"rows": [{"mean": 0.125}], "share": 0.5, "none": None, "name": "head"}
    text = "{{rows.0.mean|.2f}} · {{share|.0%}} · {{none|.2f}} · {{ name }}"
    assert fill_numbers(text, data) == "0.12 · 50% · – · head"


def test_a_hole_of_another_lesson_is_asked_for_elsewhere() -> None:
    seen: list[tuple[str, str]] = []

    def others(of: str, hole: str) -> str:
        seen.append((of, hole))
        return "there"

    assert fill_numbers("{{claim:scale-variance}} and {{scaled_scores:last.d_k|d}}", {}, others) == "there and there"
    assert seen == [("claim", "{{claim:scale-variance}}"), ("scaled_scores", "{{scaled_scores:last.d_k|d}}")]


def test_a_path_that_is_not_there_is_an_error() -> None:
    with pytest.raises(KeyError):
        fill_numbers("{{nothing}}", {})
    with pytest.raises(IndexError):
        look_up({"rows": []}, "rows.0")
    assert look_up({"rows": [[1, 2]]}, "rows.0.1") == 2


def test_the_words_of_a_picture() -> None:
    words = PictureWords("scaled_scores", "en")
    assert words("plain") == tables("en", "lessons", "scaled_scores")["picture"]["plain"]
    with pytest.raises(KeyError):
        words("nothing")
