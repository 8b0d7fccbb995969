"""Korean from the tree: the order of the clause, the particles of its parts, the joined sentence."""

from __future__ import annotations

from glassformer.data.grammar import korean_noun_phrase as nominal
from glassformer.data.grammar import korean_predicate as predicate
from glassformer.data.grammar.korean import Stem
from glassformer.data.grammar.korean_noun_phrase import attach
from glassformer.data.grammar.korean_predicate import ADJECTIVE, EXIST, VERB, Chain
from glassformer.data.grammar.lexicon import Noun
from glassformer.data.grammar.pair import Word, fixed, suffixed, words
from glassformer.data.grammar.tree import WH, Clause, NounPhrase, Sentence

EARLY_MANNER = ("혼자", "함께", "일찍", "늦게", "다시")


class Korean:
    """Realises one sentence; knows its speech level and mood."""

    def __init__(self, sentence: Sentence) -> None:
        self.sentence = sentence
        self.level = sentence.speech
        self.question = sentence.mood == "question"

    def phrase(self, given: NounPhrase, path: str) -> list[Word]:
        relative = self.clause(given.relative, f"{path}r.", "attributive") if given.relative else []
        return nominal.noun_phrase(given, path, self.level, relative)

    def marked(self, given: NounPhrase | None, path: str, particle: str) -> list[Word]:
        """A noun phrase with its particle; nothing for an empty role."""
        if given is None:
            return []
        if particle == "에게" and given.honoured:
            particle = "께"
        return attach(self.phrase(given, path), particle, nominal.reading(given))

    def noun(self, given: Noun | None, path: str, particle: str) -> list[Word]:
        """A bare noun whose particle corresponds to an English preposition."""
        if given is None:
            return []
        marked = suffixed(nominal.noun_words(given, path, self.level), "", f"{path}case")
        return attach(marked, particle, given.reading)

    def subject(self, clause: Clause, path: str, topic: bool) -> list[Word]:
        if clause.asked == "subject":
            return words("누가", f"{path}wh")
        if clause.subject is None or clause.gap == "subject":
            return []
        return nominal.subject(clause.subject, self.phrase(clause.subject, f"{path}s."), self.level, topic)

    def asked(self, clause: Clause, path: str, role: str, particle: str) -> list[Word]:
        if clause.asked != role:
            return []
        return words(WH[role][0] + particle, f"{path}wh")

    def before_verb(self, clause: Clause, path: str) -> list[Word]:
        """Everything between subject and predicate, in the usual order of a Korean clause."""
        done: list[Word] = []
        if clause.time and not clause.front:
            done += fixed(clause.time, f"{path}time", korean=True)
        done += self.asked(clause, path, "time", "") + self.asked(clause, path, "reason", "")
        if clause.frequency:
            done += fixed(clause.frequency, f"{path}freq", korean=True)
        early = clause.manner is not None and clause.manner.ko[0] in EARLY_MANNER
        if clause.company or clause.asked == "company":
            done += self.asked(clause, path, "company", "와") or self.marked(clause.company, f"{path}c.", "과")
            done += words("함께", f"{path}with")
        if clause.manner and early:
            done += fixed(clause.manner, f"{path}manner", korean=True)
        done += self.asked(clause, path, "place", "에서") + self.noun(clause.place, f"{path}p.", "에서")
        done += self.noun(clause.source, f"{path}p.", "에서")
        done += self.located(clause, path)
        if clause.standard:
            done += self.marked(clause.standard, f"{path}than.", "보다")
            done = suffixed(done, "", f"{path}than")
        done += self.noun(clause.vehicle, f"{path}by.", "로") + self.noun(clause.tool, f"{path}by.", "로")
        done += self.core(clause, path)
        if clause.manner and not early:
            done += fixed(clause.manner, f"{path}manner", korean=True)
        return done

    def degree(self, clause: Clause, path: str) -> list[Word]:
        """더, 가장, 아주: closest to the adjective, even inside 키가 … 크다."""
        if clause.standard:
            return words("더", f"{path}more")
        if clause.superlative:
            return words("가장", f"{path}more")
        return fixed(clause.degree, f"{path}degree", korean=True) if clause.degree else []

    def located(self, clause: Clause, path: str) -> list[Word]:
        """책상 위에: a thing and a side of it."""
        if clause.landmark is None or clause.position is None:
            return []
        return [*self.phrase(clause.landmark, f"{path}l."), Word(clause.position.ko[0] + "에", (f"{path}side",))]

    def core(self, clause: Clause, path: str) -> list[Word]:
        """Recipient, object and goal: the parts closest to the verb."""
        done = self.marked(clause.recipient, f"{path}to.", "에게")
        if clause.recipient:
            done = suffixed(done, "", f"{path}to")
        kind = clause.predicate.kind
        done += self.asked(clause, path, "object", "을") + self.asked(clause, path, "person", "를")
        if clause.gap != "object":
            done += self.marked(clause.object, f"{path}o.", "이" if kind in ("have", "need") else "을")
        if clause.purpose:
            done += self.clause(clause.purpose, f"{path}purpose.", "purpose")
        to = clause.predicate.verb.particle if clause.predicate.verb else "에"
        done += self.asked(clause, path, "goal", to) + self.noun(clause.goal, f"{path}p.", to)
        done += self.asked(clause, path, "stay", "에") + self.noun(clause.stay, f"{path}p.", "에")
        return done

    def clause(self, clause: Clause, path: str, form: str) -> list[Word]:
        """A whole clause; `form` is final, command, suggestion, attributive, quoted or the name of a joint."""
        topic = form in ("final", "but", "and", "topic_quote")
        done: list[Word] = []
        if clause.time and clause.front:
            done += fixed(clause.time, f"{path}time", korean=True)
        if clause.predicate.kind == "there_is":
            done += self.noun(clause.place, f"{path}p.", "에") if clause.place else self.located(clause, path)
            done += self.subject(clause, path, topic=False)
        else:
            if form not in ("command", "suggestion"):
                done += self.subject(clause, path, topic and not clause.superlative)
            done += self.before_verb(clause, path)
        if clause.predicate.kind in ("noun", "age"):
            return done + self.identity(clause, path, form)
        return done + self.verb(clause, path, form)

    def identity(self, clause: Clause, path: str, form: str) -> list[Word]:
        """이다 and 아니다 on the complement."""
        respect = clause.subject is not None and clause.subject.honoured
        if clause.number:
            done = [*words(clause.number.ko, f"{path}num"), Word("살", (f"{path}old", f"{path}v"))]
        else:
            assert clause.complement is not None
            done = self.phrase(clause.complement, f"{path}k.")
        if clause.negative:
            done = attach(done, "이")
            text = predicate.not_copula(clause.tense, self.level, self.question, respect)
            return [*done, Word(text, (f"{path}v", f"{path}neg"))]
        done = suffixed(done, "", f"{path}v")
        if form == "quoted":
            ending = "이라고" if clause.tense == "present" else "이었다고"
            return suffixed(done, ending, f"{path}join")
        return [*done[:-1], predicate.copula(done[-1], clause.tense, self.level, self.question, respect)]

    def start(self, clause: Clause, path: str) -> Chain:
        """The bare stem of the clause's predicate."""
        mark = (f"{path}v",)
        verb, adjective = clause.predicate.verb, clause.predicate.adjective
        if verb:
            humble = verb.humble and clause.recipient is not None and clause.recipient.honoured
            if humble:
                *before, last = verb.humble.split()
                return Chain(tuple(words(before, *mark)), Stem(last), VERB, mark)
            return Chain(tuple(words(verb.before, *mark)), verb.stem, VERB, mark)
        if adjective:
            there = adjective.stem.text.endswith(("있", "없"))
            inside = [*words(adjective.before, *mark), *self.degree(clause, path)]
            return Chain(tuple(inside), adjective.stem, EXIST if there else ADJECTIVE, mark)
        if clause.predicate.kind == "become":
            assert clause.complement is not None
            return Chain(tuple(attach(self.phrase(clause.complement, f"{path}k."), "이")), Stem("되"), VERB, mark)
        if clause.predicate.kind == "need":
            return Chain((), Stem("필요하"), ADJECTIVE, mark)
        return Chain((), Stem("있"), EXIST, mark)

    def verb(self, clause: Clause, path: str, form: str) -> list[Word]:
        """The predicate with modality, honour, negation and ending."""
        chain = self.start(clause, path)
        honoured = clause.subject is not None and clause.subject.honoured and form not in ("and", "purpose")
        respect: str | None = None
        if honoured:
            verb = clause.predicate.verb
            respect = verb.honour if verb else "있으시" if clause.predicate.kind == "have" else ""
        modality = clause.modality
        if modality == "want" and clause.subject and clause.subject.agreement.person == 3:
            modality = "want_other"
        if form in ("command", "suggestion"):
            ask = predicate.command if form == "command" else predicate.suggestion
            return ask(chain, self.level, clause.negative, path)
        if clause.negative:
            exists = chain.category == EXIST and chain.stem.text == "있" and not modality
            if exists:
                chain = predicate.lack(chain, path, honoured, clause.predicate.kind == "be_at")
            else:
                chain = predicate.govern(chain, modality, path, respect if modality else None)
                short = not modality and self.short(chain)
                chain = predicate.honour(chain, respect or "") if short and honoured else chain
                chain = predicate.negate(chain, path, short, honoured and not modality)
        else:
            chain = predicate.govern(chain, modality, path, respect)
        return self.ended(chain, clause, path, form)

    def short(self, chain: Chain) -> bool:
        """Is 안 natural here? In speech, before short words that are not noun + 하다."""
        text = chain.stem.text
        spoken = self.level in ("casual", "polite")
        return (
            spoken
            and chain.category in (VERB, ADJECTIVE)
            and len(text) <= 2
            and not (text.endswith("하") and text != "하")
        )

    def ended(self, chain: Chain, clause: Clause, path: str, form: str) -> list[Word]:
        match form:
            case "final":
                return predicate.final(chain, clause.tense, self.level, self.question, path)
            case "attributive":
                return predicate.attributive(chain, clause.tense, path)
            case "quoted":
                return predicate.quoted(chain, clause.tense, path)
        return predicate.connective(chain, form, clause.tense, path)


def realise(sentence: Sentence) -> list[Word]:
    """The words of the Korean sentence, without a final period; a question ends in "?"."""
    korean = Korean(sentence)
    done: list[Word] = []
    if sentence.address:
        done += words(sentence.address.ko, "address")
    elif sentence.friend:
        done += attach(words(sentence.friend.lemma, "address"), "아")
    if done:
        done = suffixed(done, ",")
    final = sentence.mood if sentence.mood in ("command", "suggestion") else "final"
    if sentence.second:
        done += joined(korean, sentence)
    else:
        done += korean.clause(sentence.clause, "", final)
    if korean.question:
        done = suffixed(done, "?")
    return done


def joined(korean: Korean, sentence: Sentence) -> list[Word]:
    """Two clauses: Korean puts the second, which depends on the first, before the main predicate."""
    main, second = sentence.clause, sentence.second
    assert second is not None
    match sentence.joint:
        case "and" | "but":
            return korean.clause(main, "", sentence.joint) + korean.clause(second, "2.", "final")
        case "that":
            return [
                *korean.subject(main, "", topic=True),
                *korean.clause(second, "2.", "quoted"),
                *korean.verb(main, "", "final"),
            ]
    if second.gap == "subject":  # the shared subject occurs once
        return [
            *korean.subject(main, "", topic=True),
            *korean.clause(second, "2.", sentence.joint),
            *korean.before_verb(main, ""),
            *korean.verb(main, "", "final"),
        ]
    return korean.clause(second, "2.", sentence.joint) + korean.clause(main, "", "final")
