"""The arithmetic of Hangul: a syllable is lead, vowel and final in one code point."""

from __future__ import annotations

FIRST = 0xAC00
LEADS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
VOWELS = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"
FINALS = ("", *"ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ")
SYLLABLES = len(LEADS) * len(VOWELS) * len(FINALS)


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
    """The final consonant that a word is heard to end in; empty after a vowel."""
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
