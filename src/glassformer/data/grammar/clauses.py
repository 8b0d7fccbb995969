"""Which clauses are possible: a verb with its subject, tense, modality, objects and adjuncts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from glassformer.data.grammar.choose import Chooser
from glassformer.data.grammar.level import Level, level_of
from glassformer.data.grammar.lexicon import Address, Noun, Phrasing, Verb
from glassformer.data.grammar.phrases import Phrases
from glassformer.data.grammar.tree import Clause, NounPhrase, Predicate, Sentence, clause_with

MENTAL = ("want", "may", "must", "must_not", "experience", "decide", "start", "plan", "know_how", "like_to")
NEGATED = ("", "want", "can", "experience", "progressive", "know_how")
DIRECTED = ("can", "must", "may", "must_not")  # possible with "you" in a statement
TIMELESS = ("experience", "know_how", "like_to", "decide", "plan")
Aspect = tuple[str, str]


@cache
def aspects(name: str, lemma: str, animal: bool, second: bool, question: bool) -> tuple[tuple[Aspect, float], ...]:
    """All (tense, modality) of this verb, each with its weight."""
    of = level_of(name)
    verb = of.lexicon.verbs[lemma]
    found = []
    for key, weight in of.modalities.items():
        tense, _, modality = key.partition(" ")
        unasked = question and modality == "must_not"
        if (
            _fits(verb, tense, modality, animal)
            and not unasked
            and not (second and not question and modality not in DIRECTED)
        ):
            found.append(((tense, modality), weight))
    return tuple(found)


def _fits(verb: Verb, tense: str, modality: str, animal: bool) -> bool:
    if verb.event:
        return tense == "past" and not modality
    if verb.stative and verb.kind != "stay":
        return not modality and tense != "future"
    if modality == "progressive" and (verb.stative or verb.single or verb.kind == "stay"):
        return False
    if verb.involuntary:
        return modality in ("", "progressive") or (modality, tense) == ("start", "past")
    if modality == "start":
        return verb.ask and verb.kind in ("activity", "transitive") and not verb.definite and not animal
    if modality == "know_how":
        return verb.skill and not animal
    if modality == "like_to":
        return verb.ask and not animal and not verb.definite
    return not (animal and modality in MENTAL)


class Clauses:
    """Clauses of one level, by the decisions of one chooser, to one listener."""

    def __init__(self, chooser: Chooser, of: Level, listener: Address | Noun | None) -> None:
        self.choose = chooser
        self.level = of
        self.listener = listener
        self.phrases = Phrases(chooser, of, listener)

    def sentence(
        self, clause: Clause, construction: str, mood: str = "statement", joint: str = "", second: Clause | None = None
    ) -> Sentence:
        listener = self.listener
        address = listener if isinstance(listener, Address) else None
        friend = listener if isinstance(listener, Noun) else None
        return Sentence(clause, construction, mood, address, friend, joint, second)

    def verb(self, verbs: tuple[Verb, ...], question: bool = False, adjuncts: int = 2, fewest: int = 0) -> Clause:
        """A whole clause about one verb."""
        verb = self.choose.pick(verbs)
        subject = self.subject_of(verb, question)
        clause = self.said(verb, subject, question)
        clause = self.with_arguments(clause, verb)
        return self.with_adjuncts(clause, verb, range(fewest, adjuncts + 1), question)

    def subject_of(self, verb: Verb, question: bool) -> NounPhrase:
        addressed = bool(aspects(self.level.name, verb.lemma, False, True, question))
        persons = [person for person in (1, 2, 3) if (person != 1 or not question) and (person != 2 or addressed)]
        return self.phrases.subject(verb.subject, persons, known=question)

    def said(self, verb: Verb, subject: NounPhrase, question: bool) -> Clause:
        """Tense, modality and negation that suit verb and subject."""
        second = subject.agreement.person == 2
        options = aspects(self.level.name, verb.lemma, subject.noun.animal, second, question)
        tense, modality = self.choose.weigh(options)
        negative = (
            not question
            and modality in NEGATED
            and subject.determiner != "every"
            and (not subject.is_new and self.choose.chance(self.level.negative))
        )
        if is_twofold(verb, subject, modality) and not negative and not question and tense == "present":
            tense = "past"
        return Clause(Predicate("verb", verb), subject, tense=tense, modality=modality, negative=negative)

    def with_arguments(self, clause: Clause, verb: Verb) -> Clause:
        """Object, recipient, and a place if the verb needs one."""
        goals = [noun for noun in self.phrases.nouns(*verb.goal) if clause.modality != "experience" or noun.to]
        found = clause_with(
            clause,
            goal=self.choose.pick(goals) if verb.goal else None,
            stay=self.choose.pick(self.phrases.nouns(*verb.stay)) if verb.stay else None,
            source=self.choose.pick(self.phrases.nouns(*verb.source)) if verb.source else None,
            recipient=self.phrases.someone(clause.subject) if verb.recipient else None,
        )
        if not verb.object or (verb.alone and self.choose.chance(0.3)):
            return found
        return clause_with(found, object=self.object_of(verb, clause.subject, not clause.negative))

    def object_of(self, verb: Verb, subject: NounPhrase | None, counted: bool) -> NounPhrase:
        things = self.phrases.nouns(*(name for name in verb.object if name != "someone"))
        things = [noun for noun in things if subject is None or noun != subject.noun]  # no cat catches a cat
        if "someone" in verb.object and (not things or self.choose.chance(0.8)):
            return self.phrases.someone(subject)
        noun = self.choose.pick(things)
        if verb.bare and not verb.generic:
            return NounPhrase(noun)
        return self.phrases.thing(noun, counted and not (verb.generic or verb.uncounted), verb.definite)

    def with_adjuncts(self, clause: Clause, verb: Verb, counts: range, question: bool) -> Clause:
        """Some of: time, frequency, place, means, company, manner."""
        for _ in range(self.choose.pick(counts)):
            options = self.adjuncts(clause, verb)
            if not options:
                return clause
            clause = self.with_adjunct(clause, verb, self.choose.pick(options))
        if clause.time and self.level.name == "full" and not question and self.choose.chance(0.25):
            return clause_with(clause, front=True)
        return clause

    def adjuncts(self, clause: Clause, verb: Verb) -> list[str]:
        """What may still be added."""
        nouns = self.phrases.nouns
        found = []
        if clause.time is None and clause.frequency is None:
            if self.times(clause, verb):
                found.append("time")
            if self.is_repeatable(clause, verb):
                found.append("frequency")
        if clause.place is None and verb.place and self.places(clause, verb):
            found.append("place")
        if verb.vehicle and not (clause.vehicle or clause.company):
            found.append("vehicle")
        if verb.tool and not (clause.tool or clause.place) and nouns(*verb.tool) and self.is_handled(clause, verb):
            found.append("tool")
        if clause.company or clause.manner:
            return found
        if verb.company and not clause.vehicle and (clause.subject is None or clause.subject.noun.human):
            found.append("company")
        if not clause.negative and clause.modality != "experience" and self.manners(clause, verb):
            found.append("manner")
        return found

    def is_handled(self, clause: Clause, verb: Verb) -> bool:
        """Is the tool of the verb used on this object? Nobody eats a cookie with chopsticks."""
        suiting = self.level.usage["tool"].get(verb.lemma)
        return suiting is None or (clause.object is not None and clause.object.noun.lemma in suiting)

    def is_repeatable(self, clause: Clause, verb: Verb) -> bool:
        """May it happen often?"""
        if clause.negative or clause.modality or clause.tense == "future":
            return False
        once = verb.stative or verb.single or verb.steady or verb.event or verb.trip or verb.kind == "weather"
        return not once and bool(self.level.adverb("frequency"))

    def with_adjunct(self, clause: Clause, verb: Verb, name: str) -> Clause:
        choose, nouns = self.choose.pick, self.phrases.nouns
        match name:
            case "time":
                return clause_with(clause, time=choose(self.times(clause, verb)))
            case "frequency":
                return clause_with(clause, frequency=choose(self.level.adverb("frequency")))
            case "place":
                return clause_with(clause, place=choose(self.places(clause, verb)))
            case "vehicle":
                return clause_with(clause, vehicle=choose(nouns(*verb.vehicle)))
            case "tool":
                return clause_with(clause, tool=choose(nouns(*verb.tool)))
            case "company":
                return clause_with(clause, company=self.phrases.someone(clause.subject))
        return clause_with(clause, manner=choose(self.manners(clause, verb)))

    def places(self, clause: Clause, verb: Verb) -> Sequence[Noun]:
        """Where the verb happens, with this object: nobody buys a car at the bakery."""
        found = self.phrases.nouns(*verb.place)
        if clause.object is None:
            return found
        noun, at = clause.object.noun, self.level.usage["at"]
        suiting = at.get(noun.lemma, at.get(noun.kind))
        return found if suiting is None else [place for place in found if {place.lemma, place.kind} & set(suiting)]

    def manners(self, clause: Clause, verb: Verb) -> tuple[Phrasing, ...]:
        """alone for one, together for many."""
        many = clause.subject is not None and (clause.subject.is_plural or bool(clause.subject.noun.plural == "plural"))
        many = many or (clause.subject is not None and clause.subject.determiner in ("every", "many"))
        barred = "혼자" if many else "함께"
        return tuple(word for word in self.level.manners(verb.manner) if word.ko[0] != barred)

    def times(self, clause: Clause, verb: Verb) -> tuple[Phrasing, ...]:
        """Times that go with the tense: yesterday with the past, every day with habits, now with the progressive."""
        kinds = when(clause.tense, clause.modality)
        lasting = verb.seasonal or verb.steady
        if verb.steady:
            kinds = tuple(f"{kind}_long" for kind in kinds if kind in ("past", "future"))
        elif verb.trip:
            kinds = tuple(name for kind in kinds if kind in ("past", "future") for name in (kind, f"{kind}_long"))
        elif verb.stative:
            kinds = ()
        elif verb.single or verb.event:
            kinds = tuple(kind for kind in kinds if kind != "habit" or verb.lemma == "일어나다")
        elif verb.seasonal and not clause.modality:
            kinds = (*kinds, "season", *(f"{kind}_long" for kind in kinds if kind in ("past", "future")))
        return self.level.times(*kinds) if lasting or kinds else ()


def is_twofold(verb: Verb, subject: NounPhrase, modality: str) -> bool:
    """Does English hide the tense? "I read" may be 읽는다 or 읽었다."""
    return verb.en.base == verb.en.past and not modality and not subject.agreement.third


def when(tense: str, modality: str) -> tuple[str, ...]:
    """The kinds of time that a tense and modality allow."""
    if modality in TIMELESS:
        return ()
    if modality == "progressive":
        return ("now",) if tense == "present" else ("past",)
    if tense == "past":
        return ("past", "any")
    if tense == "future" or modality:
        return ("future", "any")
    return ("habit", "any")
