"""English from the tree: the order of the clause, questions, relative clauses, the joined sentence."""

from __future__ import annotations

from dataclasses import replace

from glassformer.data.grammar import english
from glassformer.data.grammar import english_noun_phrase as nominal
from glassformer.data.grammar.english import Agreement
from glassformer.data.grammar.english_predicate import form, group, lexical
from glassformer.data.grammar.lexicon import Noun
from glassformer.data.grammar.pair import Word, fixed, suffixed, words
from glassformer.data.grammar.tree import WH, Clause, NounPhrase, Sentence

THIRD = Agreement(3, False)
HABITS = ("habit",)
GENERIC_MODALITIES = ("like_to", "know_how")


def is_generic(clause: Clause, question: bool) -> bool:
    """Is a bare object generic: does not eat apples, often reads books, likes apples?"""
    verb = clause.predicate.verb
    if verb is None or verb.definite:
        return False
    many = clause.subject is not None and clause.subject.agreement.plural
    if verb.generic or (verb.each and many):
        return True
    if clause.modality in GENERIC_MODALITIES:
        return True
    habit = clause.frequency is not None or (clause.time is not None and clause.time.when in HABITS)
    return not clause.modality and (habit or (clause.tense == "present" and (clause.negative or question)))


class English:
    """Realises one sentence."""

    def __init__(self, sentence: Sentence) -> None:
        self.sentence = sentence
        self.question = sentence.mood == "question"

    def phrase(self, given: NounPhrase, path: str, nominative: bool = False, article: str = "a") -> list[Word]:
        done = nominal.noun_phrase(given, path, nominative, article)
        return done + self.relative(given, f"{path}r.") if given.relative else done

    def relative(self, given: NounPhrase, path: str) -> list[Word]:
        """who lives in Seoul, that I bought yesterday."""
        clause = given.relative
        assert clause is not None
        if clause.gap == "subject":
            link = words("who" if given.noun.human else "that", f"{path}v")
            return link + self.predicate(clause, path, given.agreement)
        return words("that", f"{path}v") + self.statement(clause, path)

    def subject(self, clause: Clause, path: str) -> list[Word]:
        if clause.predicate.kind == "verb" and clause.subject is None:  # the weather
            return words("it", f"{path}v")
        assert clause.subject is not None
        return self.phrase(clause.subject, f"{path}s.", nominative=True)

    def agreement(self, clause: Clause) -> Agreement:
        return clause.subject.agreement if clause.subject and clause.asked != "subject" else THIRD

    def statement(self, clause: Clause, path: str) -> list[Word]:
        """A finite clause in the order of a statement."""
        front = fixed(clause.time, f"{path}time", korean=False) if clause.time and clause.front else []
        if clause.predicate.kind == "there_is":
            return front + self.there_is(clause, path, inverted=False)
        return [*front, *self.subject(clause, path), *self.predicate(clause, path, self.agreement(clause))]

    def there_is(self, clause: Clause, path: str, inverted: bool) -> list[Word]:
        """There are two books on the desk; there is no book; is there a book?"""
        assert clause.subject is not None
        subject = clause.subject
        if clause.negative and subject.noun.count == "count":  # there are no books
            subject = replace(subject, plural=True)
        agreement = subject.agreement
        past = clause.tense == "past"
        be = Word(english.be(agreement, past), (f"{path}v",))
        there = Word("there", (f"{path}v",))
        no = words("no", f"{path}neg") if clause.negative else []
        thing = self.phrase(subject, f"{path}s.", article="" if clause.negative else "a")
        return [*([be, there] if inverted else [there, be]), *no, *thing, *self.around(clause, path)]

    def predicate(self, clause: Clause, path: str, agreement: Agreement) -> list[Word]:
        """The verb group and everything after it."""
        verbs = group(clause, agreement, path, inverted=False)
        often = fixed(clause.frequency, f"{path}freq", korean=False) if clause.frequency else []
        return [*verbs.operator, *often, *verbs.rest, *self.complements(clause, path), *self.around(clause, path)]

    def complements(self, clause: Clause, path: str) -> list[Word]:
        """What the verb requires: object, recipient, complement, adjective, goal."""
        done: list[Word] = []
        verb = clause.predicate.verb
        if clause.object and clause.gap != "object" and clause.asked not in ("object", "person"):
            article = "generic" if is_generic(clause, self.question) else "the" if verb and verb.definite else "a"
            done += self.phrase(clause.object, f"{path}o.", article=article)
        if clause.recipient:
            done += [*words("to", f"{path}to"), *self.phrase(clause.recipient, f"{path}to.")]
        if clause.complement:
            done += self.phrase(clause.complement, f"{path}k.")
        if clause.predicate.adjective:
            done += self.adjective(clause, path)
        if clause.number:
            done += [*words(clause.number.en, f"{path}num"), *words("years old", f"{path}old")]
        if clause.goal:
            to = clause.goal.to if verb is None or verb.to == "to" else clause.goal.at if verb.to == "at" else ""
            done += self.noun(clause.goal, f"{path}p.", to)
        if clause.stay:
            done += self.noun(clause.stay, f"{path}p.", clause.stay.at)
        if clause.source:
            done += self.noun(clause.source, f"{path}p.", "from")
        return done

    def adjective(self, clause: Clause, path: str) -> list[Word]:
        """very big; taller than Minsu; the most interesting."""
        adjective = clause.predicate.adjective
        assert adjective is not None
        own, more = f"{path}v", f"{path}more"
        if clause.standard is None and not clause.superlative:
            degree = fixed(clause.degree, f"{path}degree", korean=False) if clause.degree else []
            return degree + words(adjective.en, own)
        graded = (english.superlative if clause.superlative else english.comparative)(adjective.en)
        done = words(graded[0], own, more) if len(graded) == 1 else [*words(graded[0], more), *words(graded[1], own)]
        if clause.standard is None:
            return [*words("the", more), *done]
        return [*done, *words("than", f"{path}than"), *self.phrase(clause.standard, f"{path}than.")]

    def noun(self, given: Noun, path: str, preposition: str, article: bool = False) -> list[Word]:
        """A place, vehicle or tool with its preposition."""
        own = nominal.noun_words(given, path, plural=False)
        marks = own[0].marks
        if given.place and given.the:
            own = [Word("the", marks), *own]
        elif article and given.count == "count":
            own = [Word(english.article(own[0].text), marks), *own]
        return [*words(preposition, f"{path}case"), *own]

    def around(self, clause: Clause, path: str) -> list[Word]:
        """Manner, place, means, company, purpose, time."""
        done: list[Word] = []
        if clause.manner:
            done += fixed(clause.manner, f"{path}manner", korean=False)
        if clause.place:
            done += self.noun(clause.place, f"{path}p.", clause.place.at)
        if clause.landmark and clause.position:
            done += words(clause.position.en, f"{path}side")
            done += self.phrase(clause.landmark, f"{path}l.", article="the")
        if clause.vehicle:
            done += self.noun(clause.vehicle, f"{path}by.", "by")
        if clause.tool:
            done += self.noun(clause.tool, f"{path}by.", "with", article=True)
        if clause.company:
            done += [*words("with", f"{path}with"), *self.phrase(clause.company, f"{path}c.")]
        if clause.purpose:
            done += words("to", f"{path}purpose.join")
            done += [
                *form(lexical(clause.purpose), "base", f"{path}purpose.v"),
                *self.complements(clause.purpose, f"{path}purpose."),
            ]
        if clause.time and not clause.front:
            done += fixed(clause.time, f"{path}time", korean=False)
        return done

    def ask(self, clause: Clause, path: str) -> list[Word]:
        """A question: the operator before the subject, a question word before both."""
        if clause.predicate.kind == "there_is":
            return self.there_is(clause, path, inverted=True)
        if clause.asked == "subject":
            return words("who", f"{path}wh") + self.predicate(clause, path, THIRD)
        front = words(WH[clause.asked][1], f"{path}wh") if clause.asked else []
        verbs = group(clause, self.agreement(clause), path, inverted=True)
        often = fixed(clause.frequency, f"{path}freq", korean=False) if clause.frequency else []
        left = words("with", f"{path}with") if clause.asked == "company" else []
        after = [*self.complements(clause, path), *left, *self.around(clause, path)]
        return [*front, *verbs.operator, *self.subject(clause, path), *often, *verbs.rest, *after]

    def order(self, clause: Clause, polite: bool, together: bool) -> list[Word]:
        """A command or suggestion: (Please) (do not) go; Let's (not) go."""
        start = words("let's", "lets") if together else words("please", "please") if polite else []
        no = words("not" if together else "do not", "neg") if clause.negative else []
        body = form(lexical(clause), "base", "v")
        return [*start, *no, *body, *self.complements(clause, ""), *self.around(clause, "")]


def realise(sentence: Sentence) -> list[Word]:
    """The words of the English sentence, capitalised, without a final period; a question ends in "?"."""
    english_of = English(sentence)
    done: list[Word] = []
    if sentence.address or sentence.friend:
        name = sentence.address.en if sentence.address else sentence.friend.en if sentence.friend else ""
        done = words(name, "address")
        done = suffixed(done, ",")
    if sentence.mood in ("command", "suggestion"):
        polite = sentence.speech in ("polite", "formal")
        done += english_of.order(sentence.clause, polite, sentence.mood == "suggestion")
    elif sentence.mood == "question":
        done += english_of.ask(sentence.clause, "")
        done = suffixed(done, "?")
    elif sentence.second:
        done += joined(english_of, sentence)
    else:
        done += english_of.statement(sentence.clause, "")
    return [Word(english.capitalised(done[0].text), done[0].marks), *done[1:]]


def joined(english_of: English, sentence: Sentence) -> list[Word]:
    """Two clauses; a subject they share is left out after "and" and becomes a pronoun elsewhere."""
    main, second = sentence.clause, sentence.second
    assert second is not None
    first = english_of.statement(main, "")
    shared = second.gap == "subject" and second.subject is not None
    mark = "join" if sentence.joint in ("and", "but") else "2.join"
    if shared and sentence.joint == "and":
        if second.tense == "future":  # "will" occurs only once
            body = form(lexical(second), "base", "2.v") + english_of.complements(second, "2.")
            first = [Word(word.text, ("2.fut",)) if word.marks == ("fut",) else word for word in first]
            return [*first, Word("and", (mark,)), *body, *english_of.around(second, "2.")]
        return [*first, Word("and", (mark,)), *english_of.predicate(second, "2.", english_of.agreement(second))]
    if shared:
        assert second.subject is not None
        again = words(shared_pronoun(second.subject), "s.noun")
        rest = again + english_of.predicate(second, "2.", english_of.agreement(second))
    else:
        rest = english_of.statement(second, "2.")
    if sentence.joint in ("and", "but"):
        first = suffixed(first, ",")
    return [*first, Word(sentence.joint, (mark,)), *rest]


def shared_pronoun(phrase: NounPhrase) -> str:
    if phrase.noun.kind == "pronoun":
        return nominal.pronoun(phrase.noun, 0)
    return "they" if phrase.is_plural else phrase.noun.gender
