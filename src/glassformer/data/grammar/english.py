"""English inflection: parts of the verb, plurals, articles, comparison."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

VOWELS = "aeiou"
SILENT_H = ("honest", "hour")
SOUNDED_Y = ("universit", "uniform", "useful", "one", "euro")


@dataclass(frozen=True)
class Agreement:
    """What a finite verb agrees with."""

    person: int
    plural: bool

    @property
    def third(self) -> bool:
        """Does the present take -s?"""
        return self.person == 3 and not self.plural


@dataclass(frozen=True)
class EnglishVerb:
    """Base, past and past participle, and the words that always follow the verb: take care *of*."""

    base: str
    past: str
    participle: str
    rest: tuple[str, ...] = ()

    @property
    def third(self) -> str:
        return "has" if self.base == "have" else _with_s(self.base)

    @property
    def ing(self) -> str:
        base = self.base
        if base.endswith("ie"):
            return base[:-2] + "ying"
        if base.endswith("e") and not base.endswith(("ee", "ye")):
            return base[:-1] + "ing"
        return _doubled(base) + "ing"


@cache
def verb(parts: str) -> EnglishVerb:
    """`go/went/gone`, `walk`, or with what follows: `take/took/taken care of`."""
    head, *rest = parts.split()
    forms = head.split("/")
    base = forms[0]
    past = forms[1] if len(forms) > 1 else _regular_past(base)
    return EnglishVerb(base, past, forms[2] if len(forms) > 2 else past, tuple(rest))


def _regular_past(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2] not in VOWELS:
        return base[:-1] + "ied"
    return _doubled(base) + "ed"


def _doubled(base: str) -> str:
    """stop → stopp-: one vowel, one consonant, one syllable."""
    if len(base) < 3 or base[-1] in VOWELS + "wxy" or base[-2] not in VOWELS or base[-3] in VOWELS:
        return base
    stressed_last = sum(letter in VOWELS for letter in base) == 1 or base in ("begin", "forget", "prefer", "admit")
    return base + base[-1] if stressed_last else base


def _with_s(word: str) -> str:
    if word.endswith(("s", "sh", "ch", "x", "z", "o")):
        return word + "es"
    if word.endswith("y") and word[-2] not in VOWELS:
        return word[:-1] + "ies"
    return word + "s"


@cache
def plural(noun: str) -> str:
    """The regular plural; irregular ones are in the lexicon."""
    if noun.endswith(("piano", "photo", "radio", "video", "kangaroo", "zoo")):
        return noun + "s"
    return _with_s(noun)


@cache
def article(following: str) -> str:
    """a or an, by the sound of the word that follows."""
    word = following.lower()
    if word.startswith(SOUNDED_Y):
        return "a"
    return "an" if word[0] in VOWELS or word.startswith(SILENT_H) else "a"


def be(agreement: Agreement, past: bool) -> str:
    if past:
        return "was" if not agreement.plural and agreement.person != 2 else "were"
    if agreement.plural or agreement.person == 2:
        return "are"
    return "am" if agreement.person == 1 else "is"


def do(agreement: Agreement, past: bool) -> str:
    if past:
        return "did"
    return "does" if agreement.third else "do"


def finite(verb: EnglishVerb, agreement: Agreement, past: bool) -> str:
    if past:
        return verb.past
    return verb.third if agreement.third else verb.base


@cache
def comparative(adjective: str) -> tuple[str, ...]:
    """taller; more interesting. Long words take more."""
    return _graded(adjective, "er", "more", {"good": "better", "bad": "worse"})


@cache
def superlative(adjective: str) -> tuple[str, ...]:
    return _graded(adjective, "est", "most", {"good": "best", "bad": "worst"})


def _graded(adjective: str, ending: str, word: str, irregular: dict[str, str]) -> tuple[str, ...]:
    if adjective in irregular:
        return (irregular[adjective],)
    if adjective.endswith("y") and adjective[-2] not in VOWELS and _syllables(adjective) <= 2:
        return (adjective[:-1] + "i" + ending,)
    if _syllables(adjective) > 1 and adjective not in ("quiet", "narrow", "simple"):
        return word, adjective
    if adjective.endswith("e"):
        return (adjective + ending[1:],)
    return (_doubled(adjective) + ending,)


def _syllables(word: str) -> int:
    """Groups of vowels, without a silent e."""
    spoken = word[:-1] if word.endswith("e") and not word.endswith("le") else word
    groups = 0
    before = False
    for letter in spoken:
        now = letter in VOWELS + "y"
        groups += now and not before
        before = now
    return max(1, groups)


def capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]
