"""Korean particles, whose form follows the last sound of the word before them."""

from __future__ import annotations

from functools import cache

from glassformer.data.grammar import jamo

AFTER_CONSONANT_AND_VOWEL = {
    "은": ("은", "는"),
    "이": ("이", "가"),
    "을": ("을", "를"),
    "과": ("과", "와"),
    "아": ("아", "야"),
}


@cache
def with_particle(word: str, particle: str, reading: str = "") -> str:
    """The word and the form of the particle that its last sound asks for.

    A word in foreign letters is read aloud first: Transformer (트랜스포머) takes 를, Python (파이썬) takes 을.
    """
    sound = jamo.final(reading or word)
    if particle == "로":  # ㄹ counts as a vowel here: 연필로, but 손으로
        return word + ("로" if sound in ("", "ㄹ") else "으로")
    if particle in AFTER_CONSONANT_AND_VOWEL:
        return word + AFTER_CONSONANT_AND_VOWEL[particle][0 if sound else 1]
    return word + particle
