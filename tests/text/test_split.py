from __future__ import annotations

import pytest
from hypothesis import given, settings

from glassformer.text.alphabet import BYTE_PIECES
from glassformer.text.special import NAMES
from glassformer.text.split import LONGEST_WORD, split_words
from texts import nasty_text


def cut(text: str) -> list[str]:
    return [word for word, _ in split_words().pre_tokenize_str(text)]


def test_letters_digits_and_signs_part_and_a_blank_goes_with_its_word() -> None:
    assert cut("나는 학교에  간다. I don't, 'string' 3rd") == [
        *("나는", " 학교에", " ", " 간다", ".", " I", " don", "'t", ",", " '", "string", "'", " 3", "rd"),
    ]


def test_a_mark_stays_with_its_letter() -> None:
    assert cut("क्षि") == ["क्षि"]


@settings(deadline=None)
@given(nasty_text())
def test_nothing_is_lost_and_no_word_is_long(text: str) -> None:
    words = cut(text)
    assert "".join(words) == text
    assert all(len(word) <= LONGEST_WORD + 1 for word in words)


@pytest.mark.parametrize("name", [*NAMES, *BYTE_PIECES, "##", "##a"])
def test_no_word_is_a_special_piece_or_looks_like_one_inside_of_a_word(name: str) -> None:
    for text in (name, f"a{name}b", f" {name} ", name * 3):
        assert not any(name in word or word.startswith("##") for word in cut(text))
