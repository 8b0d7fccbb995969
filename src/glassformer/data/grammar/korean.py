"""Korean conjugation: how an ending joins a stem, for regular and irregular stems."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from glassformer.data.grammar import jamo

BRIGHT = ("ㅏ", "ㅗ", "ㅑ")
MERGED = {"ㅗ": "ㅘ", "ㅜ": "ㅝ", "ㅣ": "ㅕ", "ㅚ": "ㅙ"}
SWALLOWS = ("ㅏ", "ㅓ", "ㅐ", "ㅔ", "ㅕ", "ㅖ", "ㅒ")
DROPS_RIEUL = ("ㄴ", "ㄹ", "ㅂ", "ㅅ")
BRIGHT_BIEUP = ("돕", "곱")  # the only ones that keep ㅗ + ㅏ: 도와


@dataclass(frozen=True)
class Stem:
    """A dictionary form without 다; `irregular` is ㄷ, ㅂ, ㅅ, ㅎ, 르 or honoured, else empty."""

    text: str
    irregular: str = ""


@cache
def before_consonant(stem: Stem, ending: str) -> str:
    """Endings that never take 으: 고, 지, 자, 기, 는, 니, 다, 습니다. A final ㄹ falls before ㄴ and ㅅ."""
    text = stem.text
    if jamo.final(text) == "ㄹ" and jamo.split(ending[0])[0] in ("ㄴ", "ㅅ"):
        text = jamo.with_final(text, "")
    return text + ending


@cache
def before_eu(stem: Stem, ending: str) -> str:
    """Endings that take 으 after a consonant: ㄴ, ㄹ, ㅂ시다, 면, 시, 려고, 러.

    An ending that starts with a bare consonant moves into an open syllable: 가 + ㄹ → 갈, 먹 + ㄹ → 먹을.
    """
    text = _opened(stem)
    bare = ending[0] in jamo.FINALS
    first = ending[0] if bare else jamo.split(ending[0])[0]
    if jamo.final(text) == "ㄹ" and text == stem.text:
        if first in DROPS_RIEUL and (bare or first != "ㄹ"):
            text = jamo.with_final(text, "")
        elif not bare:
            return text + ending
    if jamo.final(text):
        text += "으"
    return jamo.with_final(text, ending[0]) + ending[1:] if bare else text + ending


def _opened(stem: Stem) -> str:
    """The stem before 으: 들(으), 추우, 지(으), 빨가."""
    text = stem.text
    match stem.irregular:
        case "ㄷ":
            return jamo.with_final(text, "ㄹ")
        case "ㅂ":
            return jamo.with_final(text, "") + "우"
        case "ㅅ":
            return jamo.with_final(text, "") + "으"
        case "ㅎ":
            return jamo.with_final(text, "")
    return text


@cache
def infinitive(stem: Stem) -> str:
    """The form in 아/어, to which 요, 서, 야 and the past join: 가, 먹어, 해, 추워, 들어, 불러, 빨개."""
    text = stem.text
    if text.endswith("하"):
        return text[:-1] + "해"
    match stem.irregular:
        case "ㄷ":
            text = jamo.with_final(text, "ㄹ")
        case "ㅅ":
            text = jamo.with_final(text, "")
            return text + ("아" if jamo.vowel(text) in BRIGHT else "어")
        case "ㅂ":
            return jamo.with_final(text, "") + ("와" if text[-1] in BRIGHT_BIEUP else "워")
        case "ㅎ":
            text = jamo.with_final(text, "")
            return jamo.with_vowel(text, "ㅒ" if jamo.vowel(text) == "ㅑ" else "ㅐ")
        case "르":
            return jamo.with_final(text[:-1], "ㄹ") + ("라" if jamo.vowel(text[:-1]) in BRIGHT else "러")
    return _contracted(text)


def _contracted(text: str) -> str:
    """아 or 어 by the last vowel, contracted with an open syllable where Korean does so."""
    vowel = jamo.vowel(text)
    if jamo.final(text) == "ㅆ":  # the past, and 있: always 어
        return text + "어"
    if jamo.final(text):
        return text + ("아" if vowel in BRIGHT else "어")
    if vowel == "ㅡ":  # falls; the vowel before it decides
        bright = len(text) > 1 and jamo.vowel(text[:-1]) in BRIGHT
        return jamo.with_vowel(text, "ㅏ" if bright else "ㅓ")
    if vowel in SWALLOWS:
        return text
    if vowel in MERGED:
        return jamo.with_vowel(text, MERGED[vowel])
    return text + "어"


@cache
def past(stem: Stem) -> Stem:
    """The stem of the past: 갔, 먹었, 했, 마셨."""
    form = infinitive(stem)
    return Stem(jamo.with_final(form, "ㅆ"))


@cache
def honoured(stem: Stem) -> Stem:
    """The stem with -(으)시-: 가시, 읽으시, 사시 (살다), 들으시."""
    return Stem(before_eu(stem, "시"), "honoured")


def narrated(stem: Stem) -> str:
    """The plain present of a verb: 간다, 먹는다, 산다 (살다)."""
    if jamo.final(stem.text) not in ("", "ㄹ"):
        return stem.text + "는다"
    return jamo.with_final(stem.text, "ㄴ") + "다"


def formal(stem: Stem, question: bool) -> str:
    """합니다체: 갑니다, 먹습니까, 삽니다."""
    ending = "까" if question else "다"
    if jamo.final(stem.text) not in ("", "ㄹ"):
        return stem.text + "습니" + ending
    return jamo.with_final(stem.text, "ㅂ") + "니" + ending


def polite(stem: Stem) -> str:
    """해요체: 가요, 먹어요, and 가세요 for a stem in -시-."""
    if stem.text.endswith("시") and stem.irregular == "honoured":
        return stem.text[:-1] + "세요"
    return infinitive(stem) + "요"
