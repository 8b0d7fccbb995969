"""Which noun phrases are possible: subjects, people, objects with determiners and adjectives."""

from __future__ import annotations

from collections.abc import Sequence

from glassformer.data.grammar.choose import Chooser
from glassformer.data.grammar.level import Level
from glassformer.data.grammar.lexicon import Address, Noun
from glassformer.data.grammar.tree import NounPhrase

BARE_KINDS = ("science", "language", "sport", "meal", "homework", "weather", "sky", "money")
UNOWNED = (
    "flower",
    "tree",
    "building",
    "story",
    "problem",
    "opening",
    "show",
    "tune",
    "beast",
    "bird",
    "vehicle",
    "fruit",
    "dish",
    "drink",
)


class Phrases:
    """Noun phrases of one level, by the decisions of one chooser."""

    def __init__(self, chooser: Chooser, level: Level, listener: Address | Noun | None = None) -> None:
        self.choose = chooser
        self.level = level
        self.polite = isinstance(listener, Address)
        self.family = isinstance(listener, Address) and listener.family
        self.listener = listener.lemma if isinstance(listener, Noun) else ""

    def nouns(self, *classes: str) -> Sequence[Noun]:
        """Nouns of these classes, without the listener; to a relative, without the family."""
        found = self.level.nouns(classes)
        if not self.listener and not self.family:
            return found
        return [noun for noun in found if noun.lemma != self.listener and not (self.family and noun.kind == "kin")]

    def pronouns(self, persons: Sequence[int]) -> list[Noun]:
        found = [noun for noun in self.nouns("pronoun") if noun.person in persons]
        return [noun for noun in found if not (self.polite and noun.person == 2)]

    def subject(self, classes: tuple[str, ...], persons: Sequence[int], known: bool = False) -> NounPhrase:
        """Somebody or something that acts; `known` if a new or counted one would be odd, as in questions."""
        groups = self.level.groups(classes)
        pronouns = self.pronouns(persons) if "person" in classes or "pronoun" in classes else []
        kind = self.choose.weigh(
            (
                ("pronoun", 3.0 if pronouns else 0),
                ("name", 3.0 if groups["name"] else 0),
                ("kin", 2.0 if groups["kin"] and not self.family else 0),
                ("role", 3.0 if groups["role"] else 0),
                ("animal", 2.0 if groups["animal"] else 0),
            )
        )
        simple = known and self.level.name == "small"  # the small level leaves out rare forms
        group = [noun for noun in groups.get(kind, ()) if noun.lemma != self.listener and not (simple and noun.honour)]
        match kind:
            case "pronoun":
                return NounPhrase(self.choose.pick(pronouns))
            case "name":
                return self.named(group)
            case "kin":
                return self.kin(group)
        return self.known(self.choose.pick(group), new=not known)

    def named(self, names: Sequence[Noun]) -> NounPhrase:
        name = self.choose.pick(names)
        if self.level.name == "small" or not self.choose.chance(0.15):
            return NounPhrase(name)
        return NounPhrase(name, other=self.choose.pick([noun for noun in names if noun != name]))

    def kin(self, nouns: Sequence[Noun]) -> NounPhrase:
        """My grandmother; in the full level also Minsu's."""
        noun = self.choose.pick(nouns)
        first = self.level.lexicon.nouns["나"]
        if self.level.name == "small" or not self.choose.chance(0.25):
            return NounPhrase(noun, owner=first)
        owners = [*self.nouns("name"), *(other for other in self.pronouns((3,)) if not other.plural)]
        return NounPhrase(noun, owner=self.choose.pick(owners))

    def known(self, noun: Noun, new: bool) -> NounPhrase:
        """A noun with a determiner or number: the student, this student, these children, two students, a student.

        A new animal stands alone, 고양이가: a cat; a person is counted, 한 학생이: a student.
        """
        small = self.level.name == "small"
        kind = self.choose.weigh(
            (
                ("determiner", 4.0),
                ("plural", 1.0),
                ("one", 1.0 if new and not small and not noun.animal else 0),
                ("number", 1.0 if new and not small else 0),
                ("many", 0.4 if new and not small else 0),
                ("every", 0.4 if new and noun.human and not small else 0),
                ("adjective", 1.0 if self.level.describing(noun) and not small else 0),
                ("alone", 2.0 if new and noun.animal else 0),
            )
        )
        match kind:
            case "alone":
                return NounPhrase(noun)
            case "one" | "every":
                return NounPhrase(noun, kind)
            case "many":
                return NounPhrase(noun, "many", plural=True)
            case "number":
                return NounPhrase(noun, number=self.choose.pick(self.level.adverb("number")[1:]))
        which = self.choose.pick(("the", "this") if small else ("the", "this", "that"))
        if kind == "adjective":
            return NounPhrase(noun, which, adjective=self.choose.pick(self.level.describing(noun)))
        return NounPhrase(noun, which, plural=kind == "plural")

    def someone(self, subject: NounPhrase | None) -> NounPhrase:
        """A person who is loved, met, helped, accompanied: anybody but the subject."""
        taken = subject.agreement.person if subject else 0
        persons = [person for person in (1, 2, 3) if person != taken or person == 3]
        used = {noun.lemma for noun in (subject.noun, subject.other, subject.owner) if noun} if subject else set()
        pronouns = [noun for noun in self.pronouns(persons) if noun.lemma not in used]
        if subject and subject.noun.kind == "pronoun" and taken == 3:
            pronouns = [noun for noun in pronouns if noun.person != 3]
        names = [noun for noun in self.nouns("name") if noun.lemma not in used]
        kin = [noun for noun in self.nouns("kin") if noun.lemma not in used]
        roles = [noun for noun in self.nouns("role") if noun.lemma not in used]
        kind = self.choose.weigh(
            (
                ("pronoun", 2.0 if pronouns else 0),
                ("name", 3.0),
                ("kin", 3.0 if kin else 0),
                ("role", 2.0 if roles else 0),
            )
        )
        match kind:
            case "pronoun":
                return NounPhrase(self.choose.pick(pronouns))
            case "name":
                return NounPhrase(self.choose.pick(names))
            case "kin":
                return NounPhrase(self.choose.pick(kin), owner=self.level.lexicon.nouns["나"])
        return NounPhrase(self.choose.pick(roles), self.choose.pick(("the", "this")))

    def thing(self, noun: Noun, counted: bool, definite: bool = False) -> NounPhrase:
        """An object: bare, or with a determiner, an adjective, a number or an owner."""
        if noun.place or noun.the or noun.kind in BARE_KINDS:
            return NounPhrase(noun)
        small = self.level.name == "small"
        adjectives = self.level.describing(noun)
        numbers = counted and not definite and (noun.count == "count" or bool(noun.measure))
        owned = not small and not definite and noun.kind not in UNOWNED and noun.count != "mass"
        kind = self.choose.weigh(
            (
                ("bare", 3.0),
                ("determiner", 1.5),
                ("adjective", 2.0 if adjectives and not definite else 0),
                ("number", 1.5 if numbers else 0),
                ("owner", 1.0 if owned else 0),
                ("many", 0.4 if numbers and not small and noun.count == "count" else 0),
                ("both", 0.5 if adjectives and not definite and not small else 0),
            )
        )
        determiners = ("this", "that") if definite else ("the", "this") if small else ("the", "this", "that")
        match kind:
            case "determiner":
                return NounPhrase(noun, self.choose.pick(determiners))
            case "adjective":
                return NounPhrase(noun, adjective=self.choose.pick(adjectives))
            case "number":
                return NounPhrase(noun, number=self.choose.pick(self.level.adverb("number")[:5]))
            case "owner":
                owners = [*self.pronouns((1, 2, 3)), *self.nouns("name")]
                return NounPhrase(noun, owner=self.choose.pick([other for other in owners if other.lemma != "그들"]))
            case "many":
                return NounPhrase(noun, "many")
            case "both":
                return NounPhrase(noun, self.choose.pick(determiners), adjective=self.choose.pick(adjectives))
        return NounPhrase(noun)
