from __future__ import annotations

import unicodedata

import pytest

from glassformer.data.grammar import jamo


@pytest.mark.parametrize(
    ("syllable", "parts"),
    [("가", ("ㄱ", "ㅏ", "")), ("간", ("ㄱ", "ㅏ", "ㄴ")), ("읽", ("ㅇ", "ㅣ", "ㄺ")), ("힣", ("ㅎ", "ㅣ", "ㅎ"))],
)
def test_a_syllable_is_lead_vowel_and_final(syllable: str, parts: tuple[str, str, str]) -> None:
    assert jamo.split(syllable) == parts
    assert jamo.join(*parts) == syllable


def test_every_syllable_of_unicode_comes_back() -> None:
    for code in range(0xAC00, 0xD7A4):
        assert jamo.join(*jamo.split(chr(code))) == chr(code)
        assert (jamo.final(chr(code)) != "") == (len(unicodedata.normalize("NFD", chr(code))) == 3)


def test_what_is_no_syllable_ends_in_no_consonant() -> None:
    assert jamo.final("Transformer") == ""
    assert not jamo.is_syllable("a")


def test_finals_and_vowels_are_changed_in_the_last_syllable() -> None:
    assert jamo.with_final("가", "ㄹ") == "갈"
    assert jamo.with_final("만들", "") == "만드"
    assert jamo.with_vowel("예쁘", "ㅓ") == "예뻐"
