from __future__ import annotations

from glassformer.data.grammar.lexicon import phrasing
from glassformer.data.grammar.pair import Word, alignment, fixed, words


def test_words_that_share_a_mark_are_aligned() -> None:
    korean = [Word("나는", ("s",)), Word("학교에", ("noun", "case")), Word("간다", ("v",))]
    english = [*words("I", "s"), *words("go", "v"), *words("to", "case"), *words("school", "noun")]
    assert alignment(korean, english) == ((0, 0), (1, 2), (1, 3), (2, 1))
    assert alignment(korean, words("nothing", "else")) == ()


def test_fixed_words_are_marked_one_by_one_where_that_is_known() -> None:
    seven = phrasing("일곱 시에", "at^2 seven^1 o'clock^2")
    links = alignment(fixed(seven, "time", korean=True), fixed(seven, "time", korean=False))
    assert links == ((0, 1), (1, 0), (1, 2))
    day = phrasing("매일", "every day")
    assert alignment(fixed(day, "time", korean=True), fixed(day, "time", korean=False)) == ((0, 0), (0, 1))
