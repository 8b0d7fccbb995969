"""Hangul: a syllable is lead, vowel and final in one code point; a particle follows the last sound of its word."""

from __future__ import annotations

from functools import cache

FIRST = 0xAC00
LEADS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
VOWELS = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"
FINALS = ("", *"ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ")
SYLLABLES = len(LEADS) * len(VOWELS) * len(FINALS)
AFTER_CONSONANT_AND_VOWEL = {
    "은": ("은", "는"),
    "이": ("이", "가"),
    "을": ("을", "를"),
    "과": ("과", "와"),
    "아": ("아", "야"),
}


def is_syllable(character: str) -> bool:
    return 0 <= ord(character) - FIRST < SYLLABLES


def split(syllable: str) -> tuple[str, str, str]:
    """간 → ㄱ, ㅏ, ㄴ; the final may be empty."""
    number = ord(syllable) - FIRST
    lead, rest = divmod(number, len(VOWELS) * len(FINALS))
    vowel, final = divmod(rest, len(FINALS))
    return LEADS[lead], VOWELS[vowel], FINALS[final]


def join(lead: str, vowel: str, final: str = "") -> str:
    """code = 0xAC00 + (lead × 21 + vowel) × 28 + final."""
    place = (LEADS.index(lead) * len(VOWELS) + VOWELS.index(vowel)) * len(FINALS) + FINALS.index(final)
    return chr(FIRST + place)


def final(word: str) -> str:
    """The final consonant of a word as it is spoken; empty after a vowel."""
    return split(word[-1])[2] if is_syllable(word[-1]) else ""


def vowel(word: str) -> str:
    return split(word[-1])[1]


def with_final(word: str, consonant: str) -> str:
    """The word with another final consonant: 가 + ㄴ → 간, 살 without one → 사."""
    lead, middle, _ = split(word[-1])
    return word[:-1] + join(lead, middle, consonant)


def with_vowel(word: str, other: str) -> str:
    """The word whose last, open syllable has another vowel: 크 + ㅓ → 커."""
    lead, _, last = split(word[-1])
    return word[:-1] + join(lead, other, last)


@cache
def with_particle(word: str, particle: str, reading: str = "") -> str:
    """The word and the form of the particle that its last sound asks for.

    A word in foreign letters is read aloud first: Transformer (트랜스포머) takes 를, Python (파이썬) takes 을.
    """
    sound = final(reading or word)
    if particle == "로":  # ㄹ counts as a vowel here: 연필로, but 손으로
        return word + ("로" if sound in ("", "ㄹ") else "으로")
    if particle in AFTER_CONSONANT_AND_VOWEL:
        return word + AFTER_CONSONANT_AND_VOWEL[particle][0 if sound else 1]
    return word + particle
