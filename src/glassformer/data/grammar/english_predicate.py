"""The English verb group: operator, negation and the rest, with do-support, modals and governed verbs."""

from __future__ import annotations

from dataclasses import dataclass

from glassformer.data.grammar import english
from glassformer.data.grammar.english import Agreement, EnglishVerb
from glassformer.data.grammar.pair import Word, words
from glassformer.data.grammar.tree import Clause

GOVERNORS = {
    "want": ("want", "to"),
    "decide": ("decide", "to"),
    "start": ("start", "to"),
    "plan": ("plan", "to"),
    "know_how": ("know/knew/known", "how to"),
    "like_to": ("like", ""),
    "must": ("have/had/had", "to"),  # must has no past of its own
}
OF_KIND = {"have": "have/had/had", "become": "become/became/become", "need": "need"}


@dataclass(frozen=True)
class VerbGroup:
    """A verb group; a question puts the subject between operator and rest."""

    operator: list[Word]
    rest: list[Word]


def lexical(clause: Clause) -> EnglishVerb | None:
    """The verb of the clause, or None for "to be"."""
    if clause.predicate.verb:
        return clause.predicate.verb.en
    kind = clause.predicate.kind
    return english.verb(OF_KIND[kind]) if kind in OF_KIND else None


def form(verb: EnglishVerb | None, wanted: str, mark: str) -> list[Word]:
    """A form that is not finite: base, ing or participle; None is "be"."""
    if verb is None:
        return words({"base": "be", "ing": "being", "participle": "been"}[wanted], mark)
    return words([getattr(verb, wanted), *verb.rest], mark)


def group(clause: Clause, agreement: Agreement, path: str, inverted: bool) -> VerbGroup:
    """The verb group of a finite clause."""
    verb = lexical(clause)
    own, mod, neg = f"{path}v", f"{path}mod", f"{path}neg"
    past = clause.tense == "past"
    no = words("not", neg) if clause.negative else []
    match clause.modality:
        case "can":
            if clause.negative and not past:
                return VerbGroup([Word("cannot", (mod, neg))], form(verb, "base", own))
            return VerbGroup(words("could" if past else "can", mod) + no, form(verb, "base", own))
        case "may":
            return VerbGroup(words("may", mod), form(verb, "base", own))
        case "must" if not past:
            return VerbGroup(words("must", mod), form(verb, "base", own))
        case "must_not":
            return VerbGroup(words("must not", mod), form(verb, "base", own))
        case "experience":
            return experienced(clause, agreement, path, inverted)
        case "progressive":
            return VerbGroup(words(english.be(agreement, past), mod) + no, form(verb, "ing", own))
    if clause.modality in GOVERNORS:
        return governed(clause, agreement, path, inverted)
    if clause.tense == "future":
        return VerbGroup(words("will", f"{path}fut") + no, form(verb, "base", own))
    if verb is None:
        return VerbGroup(words(english.be(agreement, past), own) + no, [])
    if clause.negative or inverted:
        helper = words(english.do(agreement, past), neg if clause.negative else own)
        return VerbGroup(helper + no, form(verb, "base", own))
    return VerbGroup([], words([english.finite(verb, agreement, past), *verb.rest], own))


def experienced(clause: Clause, agreement: Agreement, path: str, inverted: bool) -> VerbGroup:
    """has seen, has never seen, have … ever seen; someone who went and came back has *been* there."""
    verb = lexical(clause)
    mod = f"{path}mod"
    operator = words("has" if agreement.third else "have", mod)
    seldom = words("never", f"{path}neg") if clause.negative else words("ever", mod) if inverted else []
    gone = verb is not None and verb.base == "go"
    done = words("been", f"{path}v") if gone else form(verb, "participle", f"{path}v")
    return VerbGroup(operator, seldom + done)


def governed(clause: Clause, agreement: Agreement, path: str, inverted: bool) -> VerbGroup:
    """A verb under a verb: wants to go, does not know how to swim, likes reading."""
    verb = lexical(clause)
    parts, link = GOVERNORS[clause.modality]
    governor = english.verb(parts)
    mod = f"{path}mod"
    lower = words(link, mod) + form(verb, "base" if link else "ing", f"{path}v")
    past = clause.tense == "past"
    if clause.tense == "future":
        return VerbGroup(words("will", f"{path}fut"), words(governor.base, mod) + lower)
    if clause.negative or inverted:
        neg = f"{path}neg"
        helper = words(english.do(agreement, past), neg if clause.negative else mod)
        return VerbGroup(helper + (words("not", neg) if clause.negative else []), words(governor.base, mod) + lower)
    return VerbGroup([], words(english.finite(governor, agreement, past), mod) + lower)
