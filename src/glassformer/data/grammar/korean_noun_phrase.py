"""Korean noun phrases: relative clause, determiner, adjective, noun, number with counter, particle."""

from __future__ import annotations

from glassformer.data.grammar import jamo
from glassformer.data.grammar.jamo import with_particle
from glassformer.data.grammar.korean_predicate import ADJECTIVE, EXIST, Chain, attributive
from glassformer.data.grammar.lexicon import Adjective, Noun
from glassformer.data.grammar.pair import Word, suffixed, words
from glassformer.data.grammar.tree import NounPhrase

DETERMINERS = {"this": "이", "that": "저", "the": "그", "one": "한", "every": "모든", "many": "많은"}
HUMBLE_SUBJECT = {"저": "제가", "저희": "저희가"}
HUMBLE_OWNER = {"저": "제", "저희": "저희"}


def is_humble(level: str) -> bool:
    """Do speakers lower themselves: 저 instead of 나?"""
    return level in ("polite", "formal")


def bare(noun: Noun, level: str) -> str:
    """A noun without particle: 저 for 나 to a superior, 수진이 for 수진 among friends."""
    if noun.humble and is_humble(level):
        return noun.humble
    if noun.kind == "name" and level == "casual" and jamo.final(noun.lemma):
        return noun.lemma + "이"
    return noun.lemma


def attach(given: list[Word], particle: str, reading: str = "") -> list[Word]:
    """The particle in the form that the last word asks for."""
    last = given[-1]
    return [*given[:-1], Word(with_particle(last.text, particle, reading), last.marks)]


def adjective(word: Adjective, mark: str) -> list[Word]:
    """Before its noun: 큰, 맛있는, 키가 큰, 새."""
    if word.whole:
        return words(word.whole, mark)
    category = EXIST if word.stem.text.endswith(("있", "없")) else ADJECTIVE
    chain = Chain(tuple(words(word.before, mark)), word.stem, category, (mark,))
    return attributive(chain, "present", "")


def noun_words(noun: Noun, path: str, level: str) -> list[Word]:
    """The noun's own words; those of a compound are marked one by one if its English words are."""
    parts = bare(noun, level).split()
    numbered = len(parts) > 1 and any(noun.links)
    return [
        Word(part, (f"{path}noun{number}" if numbered else f"{path}noun",))
        for number, part in enumerate(parts, start=1)
    ]


def owner(noun: Noun, level: str, ours: bool, mark: str) -> Word:
    """내, 제, 우리, 민수의. Family takes "our": 우리 어머니."""
    if noun.kind != "pronoun":
        return Word(f"{noun.lemma}의", (mark,))
    if ours and noun.person == 1:
        return Word("저희" if is_humble(level) else "우리", (mark,))
    if noun.humble and is_humble(level):
        return Word(HUMBLE_OWNER[noun.humble], (mark,))
    return Word(noun.owner, (mark,))


def noun_phrase(phrase: NounPhrase, path: str, level: str, relative: list[Word]) -> list[Word]:
    """Everything but the particle; `relative` is the relative clause, already Korean."""
    done = list(relative)
    if phrase.owner:
        done.append(owner(phrase.owner, level, phrase.noun.ours, f"{path}det"))
    elif phrase.determiner:
        done.append(Word(DETERMINERS[phrase.determiner], (f"{path}det",)))
    if phrase.adjective:
        done += adjective(phrase.adjective, f"{path}adj")
    own = noun_words(phrase.noun, path, level)
    if phrase.plural and phrase.noun.kind != "pronoun" and (phrase.determiner != "many" or phrase.noun.human):
        own = suffixed(own, "들")
    if phrase.other:
        own = suffixed(attach(own, "과"), "", f"{path}and")
        own.append(Word(bare(phrase.other, level), (f"{path}other",)))
    if phrase.number:
        own += words(phrase.number.ko, f"{path}num")
        counter = "분" if phrase.noun.honour else phrase.noun.counter
        own.append(Word(counter, (f"{path}measure" if phrase.noun.measure else f"{path}noun",)))
    return done + own


def reading(phrase: NounPhrase) -> str:
    return phrase.noun.reading if phrase.number is None else ""


def subject(phrase: NounPhrase, given: list[Word], level: str, topic: bool) -> list[Word]:
    """The subject's particle: 은/는 for what is known, 이/가 for what is new or inside another clause."""
    if phrase.honoured:
        return attach(given, "께서는" if topic and not phrase.is_new else "께서")
    if topic and not phrase.is_new:
        return attach(given, "은", reading(phrase))
    last = given[-1]
    if phrase.noun.kind == "pronoun" and last.text in HUMBLE_SUBJECT:
        return [*given[:-1], Word(HUMBLE_SUBJECT[last.text], last.marks)]
    if phrase.noun.kind == "pronoun" and phrase.noun.subject:
        return [*given[:-1], Word(phrase.noun.subject, last.marks)]
    return attach(given, "이", reading(phrase))
