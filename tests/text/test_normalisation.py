from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassformer.errors import InputError
from glassformer.text.alphabet import BYTE_PIECES
from glassformer.text.normalisation import LONGEST_WORD, normalise, split_words
from glassformer.text.tokenizer import NAMES
from texts import nasty_text


def test_jamo_become_syllables() -> None:
    assert normalise("\u1112\u1161\u11ab\u1100\u1173\u11af") == "한글"


def test_old_jamo_that_compose_to_nothing_stay() -> None:
    assert normalise("\u1112\u119e\u11ab") == "\u1112\u119e\u11ab"


@settings(deadline=None)
@given(st.text())
def test_it_is_nfc_and_nothing_else(text: str) -> None:
    assert normalise(text) == unicodedata.normalize("NFC", text)


def test_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(InputError, match=r"character 2 of the text is half of a surrogate pair \(U\+D83D\)"):
        normalise("a \ud83d")


@pytest.mark.parametrize("value", [None, 3, b"text", ["text"]])
def test_what_is_no_text_is_refused(value: object) -> None:
    with pytest.raises(InputError, match="is not a text; give a string"):
        normalise(value)  # type: ignore[arg-type]


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


@pytest.mark.many
@pytest.mark.parametrize("name", [*NAMES, *BYTE_PIECES, "##", "##a"])
def test_no_word_is_a_special_piece_or_looks_like_one_inside_of_a_word(name: str) -> None:
    for text in (name, f"a{name}b", f" {name} ", name * 3):
        assert not any(name in word or word.startswith("##") for word in cut(text))
