"""Sentences of two clauses: joined, purposes, relative clauses, what somebody thinks."""

from __future__ import annotations

from glassformer.data.grammar.clauses import Clauses
from glassformer.data.grammar.compose_being import TENSES, described, topic
from glassformer.data.grammar.compose_doing import weather_clause
from glassformer.data.grammar.lexicon import Verb
from glassformer.data.grammar.phrases import BARE_KINDS
from glassformer.data.grammar.tree import Clause, NounPhrase, Predicate, Sentence, clause_with

SIMPLE = (("present", 1.0), ("past", 2.0))


def joined(of: Clauses, main: Clause | None, joint: str, second: Clause | None, name: str) -> Sentence | None:
    if main is None or second is None:
        return None
    return of.sentence(main, name, joint=joint, second=second)


def doers(of: Clauses) -> list[Verb]:
    """Verbs of everyday acts that people plan and finish."""
    return [of.level.lexicon.verbs[lemma] for lemma in of.level.usage["sequence"]["verb"]]


def act(of: Clauses, verb: Verb, subject: NounPhrase, tense: str, simple: bool = True) -> Clause:
    """Somebody does something; a simple object has no number, no owner, no determiner."""
    clause = of.with_arguments(Clause(Predicate("verb", verb), subject, tense=tense), verb)
    if simple and clause.object and not clause.object.noun.human:
        return clause_with(clause, object=NounPhrase(clause.object.noun, adjective=clause.object.adjective))
    return clause


def reaction(of: Clauses, reason: str, subject: NounPhrase, tense: str) -> Clause:
    """What people do in such a state or weather: a verb, or an object for which only one verb is possible."""
    lexicon = of.level.lexicon
    name = of.choose.pick(of.level.usage["consequence"][reason])
    if name in lexicon.verbs:
        verb = lexicon.verbs[name]
        clause = act(of, verb, subject, tense)
        if clause.object:
            clause = clause_with(clause, object=NounPhrase(clause.object.noun))
        home = lexicon.nouns["집"]
        indoors = reason.endswith("오다") and home in of.places(clause, verb)
        return clause_with(clause, place=home) if indoors and of.choose.chance(0.5) else clause
    noun = lexicon.nouns[name]
    verb = lexicon.verbs[of.level.usage["act"][name][0]]
    clause = Clause(Predicate("verb", verb), subject, tense=tense)
    if noun.place:
        return clause_with(clause, goal=noun)
    return clause_with(clause, object=NounPhrase(noun, owner=lexicon.nouns["나"] if noun.kind == "kin" else None))


def somebody(of: Clauses, pronominal: bool) -> NounPhrase | None:
    """A subject; one that English can take up again as I, we, he, she or they if `pronominal`."""
    subject = of.phrases.subject(("person",), (1, 3))
    said_again = subject.noun.kind == "pronoun" or subject.noun.gender or subject.is_plural
    if pronominal and (not said_again or subject.determiner in ("one", "every", "many") or subject.number):
        return None
    return subject


def two_acts(of: Clauses, tenses: tuple[tuple[str, float], ...], pronominal: bool) -> tuple[Clause, Clause] | None:
    """The same person does one thing and another."""
    subject = somebody(of, pronominal)
    if subject is None:
        return None
    tense = of.choose.weigh(tenses)
    first = of.choose.pick(doers(of))
    second = of.choose.pick([verb for verb in doers(of) if verb != first])
    return act(of, first, subject, tense), clause_with(act(of, second, subject, tense), gap="subject")


def and_same(of: Clauses) -> Sentence | None:
    """Minsu ate rice and read a book."""
    both = two_acts(of, (*SIMPLE, ("future", 1.0)), pronominal=False)
    return joined(of, both[0], "and", both[1], "and_same") if both else None


def and_other(of: Clauses) -> Sentence | None:
    return contrast(of, "and", SIMPLE)


def but(of: Clauses) -> Sentence | None:
    return contrast(of, "but", SIMPLE)


def contrast(of: Clauses, joint: str, tenses: tuple[tuple[str, float], ...]) -> Sentence | None:
    """Minsu likes coffee, but Jisu likes tea: one verb, or two."""
    names = of.phrases.nouns("name", "kin")
    first_noun = of.choose.pick(names)
    other_noun = of.choose.pick([noun for noun in names if noun.kind == first_noun.kind and noun != first_noun])
    verb = of.level.lexicon.verbs[of.choose.pick(of.level.usage["contrast"]["verb"])]
    tense = of.choose.weigh(tenses)
    first = act(of, verb, topic(of, first_noun), tense)
    if joint == "but" and of.choose.chance(0.5):
        first = clause_with(first, object=known_object(verb, first))
        second = clause_with(first, subject=topic(of, other_noun), negative=True)
        return joined(of, first, joint, second, joint)
    second = act(of, verb, topic(of, other_noun), tense)
    if first.object is None or second.object is None or first.object.noun == second.object.noun:
        return None
    if first.object.noun.kind != second.object.noun.kind:
        return None
    return joined(of, first, joint, second, f"{joint}_other" if joint == "and" else joint)


def known_object(verb: Verb, clause: Clause) -> NounPhrase | None:
    """The object of both clauses: the book; a noun without a determiner stays as it is."""
    if clause.object is None or clause.object.noun.human or verb.generic or verb.definite:
        return clause.object
    noun = clause.object.noun
    return clause.object if noun.the or noun.place or noun.kind in BARE_KINDS else NounPhrase(noun, "the")


def because(of: Clauses) -> Sentence | None:
    """I drank water because I was thirsty; I rested at home because it rained."""
    return reasoned(of, "because", (("past", 1.0),))


def when(of: Clauses) -> Sentence | None:
    """I drink coffee when I am tired; it was raining when Minsu went home."""
    if of.choose.chance(0.3):
        subject = of.phrases.subject(("name", "kin", "pronoun"), (1, 3))
        second = of.with_arguments(*motion_of(of, subject, "past"))
        return joined(of, weather_clause(of, (("past", 1.0),), timed=False), "when", second, "when")
    return reasoned(of, "when", TENSES)


def reasoned(of: Clauses, joint: str, tenses: tuple[tuple[str, float], ...]) -> Sentence | None:
    """A state or the weather, and what people do then."""
    subject = somebody(of, pronominal=True)
    if subject is None:
        return None
    tense = of.choose.weigh(tenses)
    reason = of.choose.pick(
        [name for name in of.level.usage["consequence"] if joint != "when" or not name.endswith("오다")]
    )
    main = reaction(of, reason, subject, tense)
    if reason in of.level.lexicon.verbs:
        return joined(of, main, joint, Clause(Predicate("verb", of.level.lexicon.verbs[reason]), tense=tense), joint)
    word = of.level.lexicon.adjectives[reason]
    if main.object and main.object.noun == subject.noun:
        return None
    return joined(
        of, main, joint, Clause(Predicate("adjective", adjective=word), subject, tense=tense, gap="subject"), joint
    )


def motion_of(of: Clauses, subject: NounPhrase, tense: str) -> tuple[Clause, Verb]:
    verb = of.choose.pick(of.level.kinds("motion"))
    return Clause(Predicate("verb", verb), subject, tense=tense), verb


def conditional(of: Clauses) -> Sentence | None:
    """I will rest at home if it rains."""
    subject = of.phrases.subject(("person",), (1, 3))
    verb = of.choose.pick(of.level.kinds("weather"))
    second = Clause(Predicate("verb", verb))
    return joined(of, reaction(of, verb.lemma, subject, "future"), "if", second, "if")


def before(of: Clauses) -> Sentence | None:
    both = two_acts(of, SIMPLE, pronominal=True)
    return joined(of, both[0], "before", both[1], "before") if both else None


def after(of: Clauses) -> Sentence | None:
    both = two_acts(of, (*SIMPLE, ("future", 1.0)), pronominal=True)
    if both is None:
        return None
    main, second = both
    return joined(
        of, main, "after", clause_with(second, tense="present") if main.tense == "future" else second, "after"
    )


def purpose(of: Clauses) -> Sentence | None:
    """I went to the library to read a book."""
    verb = of.choose.pick([verb for verb in doers(of) if verb.place])
    goers = [mover for mover in of.level.kinds("motion") if mover.lemma in ("가다", "오다")]
    mover = of.choose.pick(goers)
    subject = of.phrases.subject(("person",), (1, 3))
    tense = of.choose.weigh((*SIMPLE, ("future", 1.0)))
    aim = clause_with(act(of, verb, subject, "future"), gap="subject")
    places = [noun for noun in of.places(aim, verb) if noun in of.phrases.nouns(*mover.goal)]
    if not places:
        return None
    main = Clause(Predicate("verb", mover), subject, goal=of.choose.pick(places), tense=tense, purpose=aim)
    return of.sentence(main, "purpose")


def done_by_people(of: Clauses) -> list[Verb]:
    """What somebody does to something."""
    return [verb for verb in of.level.kinds("transitive") if "person" in verb.subject]


def relative_object(of: Clauses) -> Sentence | None:
    """The book that I bought yesterday is interesting; Minsu read the letter that Jisu wrote."""
    verbs = [verb for verb in done_by_people(of) if not verb.generic and not verb.bare and not verb.definite]
    verb = of.choose.pick(verbs)
    classes = tuple(name for name in verb.object if name != "someone")
    things = [
        noun for noun in of.phrases.nouns(*classes) if noun.kind not in BARE_KINDS and not noun.the and not noun.place
    ]
    if not things:
        return None
    head = of.choose.pick(things)
    inner_subject = of.phrases.subject(("name", "pronoun", "kin"), (1, 3))
    inner = Clause(
        Predicate("verb", verb),
        inner_subject,
        NounPhrase(head),
        tense=of.choose.weigh((("past", 3.0), ("future", 1.0))),
        gap="object",
    )
    times = of.times(inner, verb)
    if times and of.choose.chance(0.4):
        inner = clause_with(inner, time=of.choose.pick(times))
    phrase = NounPhrase(head, relative=inner)
    if of.choose.chance(0.5):
        return about(of, phrase)
    return acting_on(of, phrase, inner_subject)


def about(of: Clauses, phrase: NounPhrase) -> Sentence | None:
    """A relative phrase as the subject of an adjective."""
    words = of.level.asserting(phrase.noun)
    if not words:
        return None
    clause = Clause(Predicate("adjective", adjective=of.choose.pick(words)), phrase, tense=of.choose.weigh(TENSES))
    return of.sentence(clause_with(clause, negative=of.choose.chance(0.2)), "relative")


def acting_on(of: Clauses, phrase: NounPhrase, other: NounPhrase) -> Sentence | None:
    """A relative phrase as an object."""
    kinds = {phrase.noun.kind, phrase.noun.lemma}
    inner = phrase.relative.predicate.lemma if phrase.relative else ""
    verbs = [verb for verb in done_by_people(of) if kinds & set(verb.object) and verb.lemma != inner]
    verbs = [verb for verb in verbs if not verb.event and not verb.definite]
    if not verbs:
        return None
    verb = of.choose.pick(verbs)
    subject = of.phrases.subject(("pronoun", "name", "kin", "role"), (1, 3))
    if subject.noun == other.noun:
        return None
    clause = of.said(verb, subject, question=False)
    return of.sentence(clause_with(clause, object=phrase), "relative")


def relative_subject(of: Clauses) -> Sentence | None:
    """The student who studies in the library is diligent; I met the doctor who lives in Seoul."""
    heads = of.phrases.nouns("role")
    head = of.choose.pick(heads)
    verbs = [verb for verb in of.level.kinds("motion", "stay", "activity", "transitive") if "person" in verb.subject]
    verb = of.choose.pick([verb for verb in verbs if not verb.single and not verb.event])
    inner = of.with_arguments(
        Clause(Predicate("verb", verb), NounPhrase(head), tense=of.choose.weigh(TENSES), gap="subject"), verb
    )
    if of.places(inner, verb) and of.choose.chance(0.6):
        inner = of.with_adjunct(inner, verb, "place")
    phrase = NounPhrase(head, relative=inner)
    if of.choose.chance(0.5):
        return about(of, phrase)
    outer = [verb for verb in of.level.kinds("transitive") if "someone" in verb.object and not verb.generic]
    verb = of.choose.pick(outer)
    subject = of.phrases.subject(("pronoun", "name", "kin"), (1, 3))
    return of.sentence(clause_with(of.said(verb, subject, question=False), object=phrase), "relative")


def think(of: Clauses) -> Sentence | None:
    """I think that this book is interesting."""
    verb = of.choose.pick(of.level.kinds("thinking"))
    thinker = of.phrases.subject(("pronoun", "name", "kin"), (1, 3))
    main = Clause(Predicate("verb", verb), thinker)
    if of.choose.chance(0.5):
        second = described(of, "present", question=False)
    else:
        doing = of.verb(of.level.kinds("motion", "activity", "transitive"), adjuncts=1)
        second = None if doing.modality not in ("", "can", "must") or doing.front else doing
    if second is None or second.subject is None or second.subject.noun == thinker.noun or second.degree:
        return None
    if second.subject.determiner == "that":  # not "that that dog"
        return None
    return joined(of, main, "that", second, "think")
