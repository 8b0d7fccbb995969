from __future__ import annotations

import unicodedata

import pytest

from glassformer.data.grammar import jamo
from glassformer.data.grammar.jamo import with_particle


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


@pytest.mark.parametrize(
    ("word", "particle", "expected"),
    [
        ("학생", "은", "학생은"),
        ("나", "은", "나는"),
        ("학생", "이", "학생이"),
        ("개", "이", "개가"),
        ("책", "을", "책을"),
        ("사과", "을", "사과를"),
        ("수진", "과", "수진과"),
        ("민수", "과", "민수와"),
        ("지훈", "아", "지훈아"),
        ("민수", "아", "민수야"),
        ("버스", "로", "버스로"),
        ("손", "로", "손으로"),
        ("젓가락", "로", "젓가락으로"),
        ("연필", "로", "연필로"),
        ("지하철", "로", "지하철로"),
        ("서울", "로", "서울로"),
        ("서울", "을", "서울을"),
        ("칼", "로", "칼로"),
        ("학교", "에", "학교에"),
        ("도서관", "에서", "도서관에서"),
        ("할머니", "께서는", "할머니께서는"),
        ("민수", "보다", "민수보다"),
    ],
)
def test_the_particle_follows_the_last_sound(word: str, particle: str, expected: str) -> None:
    assert with_particle(word, particle) == expected


def test_a_foreign_word_is_read_aloud() -> None:
    assert with_particle("Transformer", "을", "트랜스포머") == "Transformer를"
    assert with_particle("Python", "을", "파이썬") == "Python을"
    assert with_particle("Python", "로", "파이썬") == "Python으로"
