from __future__ import annotations

from glassformer.data.grammar.choose import Drawn
from glassformer.data.grammar.level import level_of
from glassformer.data.grammar.lexicon import Address
from glassformer.data.grammar.phrases import Phrases

FULL = level_of("full")


def test_nobody_says_you_to_a_superior_or_explains_the_family_to_it() -> None:
    mother = next(address for address in FULL.addresses if address.ko == "엄마")
    assert isinstance(mother, Address)
    for index in range(400):
        subject = Phrases(Drawn(f"polite:{index}"), FULL, mother).subject(("person",), (1, 2, 3))
        assert subject.noun.lemma != "너"
        assert subject.noun.kind != "kin"


def test_the_listener_is_not_spoken_about() -> None:
    friend = FULL.lexicon.nouns["민수"]
    for index in range(400):
        phrases = Phrases(Drawn(f"casual:{index}"), FULL, friend)
        subject = phrases.subject(("person",), (1, 2, 3))
        other = phrases.someone(subject)
        assert friend not in (subject.noun, subject.other, subject.owner, other.noun)


def test_company_is_somebody_else() -> None:
    for index in range(600):
        phrases = Phrases(Drawn(f"company:{index}"), FULL)
        subject = phrases.subject(("person",), (1, 2, 3))
        other = phrases.someone(subject)
        assert other.noun not in (subject.noun, subject.other)
        assert {subject.agreement.person, other.agreement.person} not in ({1}, {2})


def test_known_subjects_are_neither_new_nor_counted() -> None:
    for index in range(400):
        subject = Phrases(Drawn(f"known:{index}"), FULL).subject(("person", "pet"), (2, 3), known=True)
        assert subject.determiner not in ("one", "many", "every")
        assert subject.number is None
        assert subject.agreement.person != 1
