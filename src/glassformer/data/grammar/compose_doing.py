"""Sentences about doing: statements, questions, commands and suggestions around one verb."""

from __future__ import annotations

from glassformer.data.grammar.clauses import Clauses
from glassformer.data.grammar.lexicon import Address, Verb
from glassformer.data.grammar.tree import Clause, NounPhrase, Predicate, Sentence, clause_with

ASKABLE = ("motion", "stay", "activity", "transitive")
UNASKED = ("experience", "know_how", "like_to", "progressive", "may")


def motion(of: Clauses) -> Sentence:
    return of.sentence(of.verb(of.level.kinds("motion", "stay", "leave")), "motion")


def activity(of: Clauses) -> Sentence:
    return of.sentence(of.verb(of.level.kinds("activity"), fewest=1), "activity")


def transitive(of: Clauses) -> Sentence:
    return of.sentence(of.verb(of.level.kinds("transitive")), "transitive")


def giving(of: Clauses) -> Sentence:
    return of.sentence(of.verb(of.level.kinds("giving"), adjuncts=1), "giving")


def weather(of: Clauses) -> Sentence:
    """It rains, it snowed yesterday."""
    return of.sentence(weather_clause(of, (("present", 1.0), ("past", 2.0), ("future", 1.0)), timed=True), "weather")


def weather_clause(of: Clauses, tenses: tuple[tuple[str, float], ...], timed: bool) -> Clause:
    verb = of.choose.pick(of.level.kinds("weather"))
    tense = of.choose.weigh(tenses)
    negative = timed and of.choose.chance(0.15)
    clause = Clause(Predicate("verb", verb), tense=tense, negative=negative)
    if not timed:
        return clause
    times = of.level.times(*{"present": ("season",), "past": ("past",), "future": ("future",)}[tense])
    if verb.lemma == "눈이 오다" and tense == "present":
        times = tuple(time for time in times if time.ko == ("겨울에",))
    return clause_with(clause, time=of.choose.pick(times))


def question(of: Clauses) -> Sentence:
    """A yes-no question."""
    return of.sentence(of.verb(of.level.kinds(*ASKABLE, "giving"), question=True, adjuncts=1), "question", "question")


def wh_question(of: Clauses) -> Sentence | None:
    """Who, what, where, when, why, with whom."""
    verbs = tuple(verb for verb in of.level.kinds(*ASKABLE) if not verb.bare)
    clause = of.verb(verbs, question=True, adjuncts=0)
    verb = clause.predicate.verb
    assert verb is not None and clause.subject is not None
    options = ["subject"] if clause.subject.noun.human else []
    if not is_shared(of, verb):
        options += [role for role in ("goal", "stay") if getattr(clause, role)]
        options += ["place"] if verb.place and not (verb.stative or verb.involuntary) else []
        options += ["person" if clause.object.noun.human else "object"] if clause.object else []
    if verb.company and clause.subject.noun.human and of.level.name == "full":
        options.append("company")
    if not verb.stative and clause.modality not in UNASKED:
        options += ["time"] if clause.modality == "can" else ["time", "reason"]
    return of.sentence(opened(of, clause, of.choose.pick(options)), "wh_question", "question") if options else None


def is_shared(of: Clauses, verb: Verb) -> bool:
    """Do two Korean verbs share this English verb? Then only the object tells them apart, so it cannot be asked for."""
    return any(other.en == verb.en and other != verb for other in of.level.verbs)


def opened(of: Clauses, clause: Clause, asked: str) -> Clause:
    """The clause without the role that is asked for."""
    clause = clause_with(clause, asked=asked)
    if asked == "subject":
        return clause_with(clause, subject=NounPhrase(of.level.lexicon.nouns["그"]))
    if asked in ("object", "person"):
        return clause_with(clause, object=None)
    return clause_with(clause, goal=None, stay=None) if asked in ("goal", "stay") else clause


def command(of: Clauses) -> Sentence:
    return asking(of, [verb for verb in of.level.verbs if verb.ask and verb.kind != "motion"], "command")


def suggestion(of: Clauses) -> Sentence | None:
    """Let's: not in 해요체, which has no form of its own for it."""
    if isinstance(of.listener, Address) and of.listener.level == "polite":
        return None
    return asking(of, [verb for verb in of.level.verbs if verb.ask and not verb.recipient], "suggestion")


def asking(of: Clauses, verbs: list[Verb], mood: str) -> Sentence:
    """No subject, no tense: the listener is meant, or both of us."""
    verb = of.choose.pick(verbs)
    meant = NounPhrase(of.level.lexicon.nouns["우리" if mood == "suggestion" else "너"])
    clause = Clause(Predicate("verb", verb), meant, tense="future", negative=of.choose.chance(0.2))
    clause = of.with_arguments(clause, verb)
    options = [name for name in of.adjuncts(clause, verb) if name in ("place", "time", "manner", "tool")]
    options = [name for name in options if name != "time" or not clause.negative]
    if options and of.choose.chance(0.5):
        clause = of.with_adjunct(clause, verb, of.choose.pick(options))
    return of.sentence(clause, mood, mood)
