"""Sentences about being: adjectives, comparison, identity, age, place, existence, having, needing."""

from __future__ import annotations

from glassformer.data.grammar.clauses import Clauses
from glassformer.data.grammar.lexicon import Adjective, Noun
from glassformer.data.grammar.phrases import UNOWNED
from glassformer.data.grammar.tree import Clause, NounPhrase, Predicate, Sentence, clause_with

TENSES = (("present", 3.0), ("past", 2.0))
UNMARKED = ("science", "language", "sport", "meal", "name")
GRADED = ("새", "오래되다", "맛없다", "빨갛다", "파랗다", "노랗다", "하얗다", "까맣다", "둥글다")  # not compared


def adjective(of: Clauses) -> Sentence | None:
    """The book is very interesting."""
    clause = described(of, of.choose.weigh(TENSES), question=False)
    return of.sentence(clause, "adjective") if clause else None


def adjective_question(of: Clauses) -> Sentence | None:
    clause = described(of, "present", question=True)
    return of.sentence(clause, "adjective_question", "question") if clause else None


def described(of: Clauses, tense: str, question: bool) -> Clause | None:
    word = of.choose.pick([word for word in of.level.adjectives if not word.attributive])
    subject = subject_of(of, word, question)
    if subject is None:
        return None
    negative = not question and of.choose.chance(of.level.negative)
    clause = Clause(Predicate("adjective", adjective=word), subject, tense=tense, negative=negative)
    degrees = of.level.adverb("degree")
    if degrees and not negative and not question and of.choose.chance(0.3):
        clause = clause_with(clause, degree=of.choose.pick(degrees))
    times = of.level.times("past" if tense == "past" else "now")
    if (word.state or subject.noun.lemma == "날씨") and times and not question and of.choose.chance(0.4):
        clause = clause_with(clause, time=of.choose.pick(times))
    return clause


def subject_of(of: Clauses, word: Adjective, question: bool) -> NounPhrase | None:
    nouns = of.phrases.nouns(*word.of)
    people = "person" in word.of
    if people and of.choose.chance(0.25):
        pronouns = of.phrases.pronouns((2, 3) if question else (1, 3))
        return NounPhrase(of.choose.pick(pronouns))
    simple = question and of.level.name == "small"
    others = [noun for noun in nouns if noun.kind != "pronoun" and not (simple and noun.honour)]
    return topic(of, of.choose.pick(others)) if others else None


def topic(of: Clauses, noun: Noun) -> NounPhrase:
    """What is spoken about: this book, the book, my mother, Minsu, the weather."""
    if noun.the or noun.place or noun.kind in UNMARKED:
        return NounPhrase(noun)
    if noun.kind == "kin":
        return NounPhrase(noun, owner=of.level.lexicon.nouns["나"])
    small = of.level.name == "small"
    if not small and not noun.human and noun.count == "count" and noun.kind not in UNOWNED and of.choose.chance(0.2):
        owners = [*of.phrases.pronouns((1, 3)), *of.phrases.nouns("name")]
        return NounPhrase(noun, owner=of.choose.pick(owners))
    which = of.choose.pick(("the", "this") if small else ("the", "this", "that"))
    return NounPhrase(noun, which, plural=not small and noun.count == "count" and of.choose.chance(0.15))


def comparison(of: Clauses) -> Sentence | None:
    """This book is more interesting than that book; Minsu is taller than Jisu."""
    word = of.choose.pick([word for word in of.level.adjectives if not word.attributive and word.lemma not in GRADED])
    nouns = [noun for noun in of.phrases.nouns(*word.of) if noun.kind != "pronoun" and not noun.place and not noun.the]
    if not nouns:
        return None
    noun = of.choose.pick(nouns)
    alike = [other for other in nouns if other.kind == noun.kind and other != noun]
    clause = Clause(Predicate("adjective", adjective=word), tense=of.choose.weigh(TENSES))
    if noun.kind in UNMARKED or noun.kind == "kin":
        if not alike:
            return None
        clause = clause_with(clause, subject=topic(of, noun), standard=topic(of, of.choose.pick(alike)))
    elif alike and of.choose.chance(0.5):
        clause = clause_with(
            clause, subject=NounPhrase(noun, "this"), standard=NounPhrase(of.choose.pick(alike), "the")
        )
    else:
        clause = clause_with(clause, subject=NounPhrase(noun, "this"), standard=NounPhrase(noun, "that"))
    return of.sentence(clause, "comparison")


def superlative(of: Clauses) -> Sentence | None:
    word = of.choose.pick([word for word in of.level.adjectives if not word.attributive and word.lemma not in GRADED])
    subject = subject_of(of, word, question=False)
    if subject is None or subject.noun.kind in ("weather", "pronoun") or subject.plural:
        return None
    clause = Clause(Predicate("adjective", adjective=word), subject, tense=of.choose.weigh(TENSES), superlative=True)
    return of.sentence(clause, "superlative")


def identity(of: Clauses) -> Sentence | None:
    """Minsu is a student; she was not a doctor."""
    names = ("pronoun", "name", "kin", "남자", "여자")
    subject = of.phrases.subject(names, (1, 3), known=True)
    jobs = of.phrases.nouns(*of.level.usage["job"]["noun"])
    if of.level.name == "small" and subject.agreement.plural:
        return None
    complement = NounPhrase(of.choose.pick(jobs), plural=subject.agreement.plural)
    clause = Clause(Predicate("noun"), subject, complement=complement, tense=of.choose.weigh(TENSES))
    return of.sentence(clause_with(clause, negative=of.choose.chance(0.25)), "identity")


def become(of: Clauses) -> Sentence:
    """She became a doctor; I want to become a singer."""
    subject = of.phrases.subject(("pronoun", "name", "남동생", "여동생", "사촌", "소년", "소녀"), (1, 3))
    jobs = [noun for noun in of.phrases.nouns(*of.level.usage["job"]["noun"]) if noun.lemma != "학생"]
    aspects = ((("past", ""), 2.0), (("future", ""), 1.0), (("present", "want"), 2.0), (("past", "want"), 1.0))
    tense, modality = of.choose.weigh((*aspects, (("past", "decide"), 1.0), (("present", "can"), 1.0)))
    complement = NounPhrase(of.choose.pick(jobs), plural=subject.agreement.plural)
    return of.sentence(
        Clause(Predicate("become"), subject, complement=complement, tense=tense, modality=modality), "become"
    )


def age(of: Clauses) -> Sentence:
    subject = of.phrases.subject(tuple(of.level.usage["age"]["subject"]), (1, 3))
    number = of.choose.pick(of.level.adverb("age"))
    return of.sentence(Clause(Predicate("age"), subject, number=number, tense=of.choose.weigh(TENSES)), "age")


def be_at(of: Clauses) -> Sentence:
    """Minsu is in the library; the book is on the desk."""
    if of.choose.chance(0.5):
        subject = of.phrases.subject(("person",), (1, 3))
        place = of.choose.pick(of.phrases.nouns(*of.level.usage["be_at"]["place"]))
        tense = of.choose.weigh((*TENSES, ("future", 1.0)))
        clause = Clause(Predicate("be_at"), subject, stay=place, tense=tense)
        when = {"present": ("now",), "past": ("past",), "future": ("future",)}[tense]
        if of.choose.chance(0.4):
            clause = clause_with(clause, time=of.choose.pick(of.level.times(*when)))
    else:
        landmark, thing = lying(of)
        clause = Clause(Predicate("be_at"), topic(of, thing), tense=of.choose.weigh(TENSES))
        clause = beside(of, clause, landmark)
    counted = clause.subject is not None and clause.subject.determiner in ("every", "many", "one")
    return of.sentence(clause_with(clause, negative=not counted and of.choose.chance(0.2)), "be_at")


def lying(of: Clauses) -> tuple[Noun, Noun]:
    """A piece of furniture or the like, and something that may lie around there."""
    landmark = of.choose.pick(of.phrases.nouns(*of.level.usage["lying"]))
    return landmark, of.choose.pick(of.phrases.nouns(*of.level.usage["lying"][landmark.lemma]))


def beside(of: Clauses, clause: Clause, landmark: Noun) -> Clause:
    sides = of.level.lexicon.adverbs["position"]
    side = of.choose.pick([sides[name] for name in of.level.usage["side"][landmark.lemma] if name in sides])
    return clause_with(clause, landmark=NounPhrase(landmark), position=side)


def existing(of: Clauses, question: bool) -> Clause:
    """There is something somewhere."""
    if of.choose.chance(0.5):
        places = [noun for noun in of.phrases.nouns(*of.level.usage["found"]) if of.phrases.nouns(*found(of, noun))]
        place = of.choose.pick(places)
        noun = of.choose.pick(of.phrases.nouns(*found(of, place)))
        clause = Clause(Predicate("there_is"), amount(of, noun, question), place=place)
    else:
        landmark, noun = lying(of)
        clause = beside(of, Clause(Predicate("there_is"), amount(of, noun, question)), landmark)
    clause = clause_with(clause, tense=of.choose.weigh(TENSES))
    bare = clause.subject == NounPhrase(noun)
    return clause_with(clause, negative=bare and not question and of.choose.chance(0.25))


def found(of: Clauses, place: Noun) -> tuple[str, ...]:
    return tuple(of.level.usage["found"].get(place.lemma, ()))


def amount(of: Clauses, noun: Noun, question: bool, many: bool = True) -> NounPhrase:
    """One, several, many, or one with an adjective."""
    numbers = of.level.adverb("number")[1:]
    adjectives = [] if noun.human or noun.animal else of.level.describing(noun)
    many = many and of.level.name == "full" and not question and noun.count == "count"
    kind = of.choose.weigh(
        (
            ("bare", 2.0),
            ("number", 2.0 if noun.count == "count" and not question else 0),
            ("adjective", 1.5 if adjectives else 0),
            ("many", 0.5 if many else 0),
        )
    )
    match kind:
        case "number":
            return NounPhrase(noun, number=of.choose.pick(numbers[: 4 if of.level.name == "small" else 9]))
        case "adjective":
            return NounPhrase(noun, adjective=of.choose.pick(adjectives))
        case "many":
            return NounPhrase(noun, "many", plural=True)
    return NounPhrase(noun)


def there_is(of: Clauses) -> Sentence:
    return of.sentence(existing(of, question=False), "there_is")


def there_is_question(of: Clauses) -> Sentence:
    return of.sentence(existing(of, question=True), "there_is_question", "question")


def have(of: Clauses) -> Sentence:
    """Minsu has two cats; I do not have a car."""
    return of.sentence(owning(of, "have"), "have")


def need(of: Clauses) -> Sentence:
    return of.sentence(owning(of, "need"), "need")


def owning(of: Clauses, kind: str) -> Clause:
    subject = of.phrases.subject(("person",), (1, 3), known=True)
    noun = of.choose.pick(of.phrases.nouns(*of.level.usage[kind]["object"]))
    negative = of.choose.chance(0.2)
    thing = NounPhrase(noun) if negative or noun.count != "count" else amount(of, noun, question=False, many=False)
    return Clause(Predicate(kind), subject, thing, tense=of.choose.weigh(TENSES), negative=negative)
