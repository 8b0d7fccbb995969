"""Parts of a page: a claim as a card, as a line inside a text, as a row in the table of all; a picture in its box."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from glassformer.lessons.lesson_results import JudgedClaim
from glassformer.lessons.view import MARKS
from glassformer.textbook.book import Book, Turn
from glassformer.textbook.prose import boxed
from glassformer.words import say


@dataclass(frozen=True)
class Say:
    """The sentences of the report, in the language of the page."""

    lang: str

    def __call__(self, key: str, **values: object) -> str:
        return say(f"report.{key}", self.lang, **values)

    def verdict(self, verdict: str) -> str:
        return say(f"verdicts.{verdict}", self.lang)

    def meaning(self, verdict: str) -> str:
        """The rule by which a verdict is given."""
        return say(f"meanings.{verdict}", self.lang)


def sign(verdict: str, words: Say) -> str:
    """A verdict as a sign and a word: never by colour alone. "" is that of a claim that was not measured."""
    mark, word = (MARKS[verdict][0], words.verdict(verdict)) if verdict else ("○", words("unmeasured"))
    return f'<span class="badge {verdict or "open"}"><span aria-hidden="true">{mark}</span> {escape(word)}</span>'


def badge(answer: JudgedClaim | None, words: Say) -> str:
    """The verdict on a claim, and whether it is stale."""
    if answer is None:
        return sign("", words)
    stale = f' <span class="badge stale">{escape(words("stale"))}</span>' if answer.stale else ""
    return f"{sign(answer.verdict, words)}{stale}"


def card(claim: str, sentence: str, answer: JudgedClaim | None, words: Say) -> str:
    """A claim with all that is known about it: what decides is read at once, with the rule, and the rest unfolds."""
    command = f"glassformer claims {claim} --fresh"
    rest = "" if answer is None else "".join(f"<p>{escape(part)}</p>" for part in answer.further)
    rule = "" if answer is None else f'<p class="rule">{escape(words.meaning(answer.verdict))}</p>'
    folded = f"<details><summary>{escape(words('further'))}</summary>{rest}</details>" if rest else ""
    return (
        f'<section class="claim {"open" if answer is None else answer.verdict}" id="claim-{claim}" '
        f'data-find="{escape(sentence)}"><p class="verdict">{badge(answer, words)}</p>{rule}'
        f"<h4>{escape(sentence)}</h4>{_decisive(answer, words)}{folded}"
        f'<p class="repeat"><span>{escape(words("repeat"))}</span> <code>{escape(command)}</code></p></section>'
    )


def _decisive(answer: JudgedClaim | None, words: Say) -> str:
    if answer is None:
        return ""
    if answer.condition:
        return f'<p class="condition"><b>{escape(words("condition"))}</b> {escape(answer.decisive)}</p>'
    return f"<p>{escape(answer.decisive)}</p>"


def inline(claim: str, answer: JudgedClaim | None, words: Say) -> str:
    """A claim inside a text of another place, with a way to its card, where its numbers are."""
    if answer is None:
        command = f"<code>glassformer claims {escape(claim)} --fresh</code>"
        return f'<span class="said">{badge(None, words)} {command}</span>'
    return (
        f'<span class="said">{badge(answer, words)} <a href="#claim-{claim}">{escape(answer.claim)}</a> '
        f'<span class="measured">{escape(answer.decisive)}</span></span>'
    )


def figure(picture: str, label: str, caption: str, words: Say) -> str:
    """A picture in its box, which a keyboard reaches; on a phone it can be made larger. `caption` is HTML."""
    button = f'<button type="button" class="button enlarge" aria-pressed="false">{escape(words("enlarge"))}</button>'
    return (
        f'<figure><div class="picture" tabindex="0" role="group" aria-label="{escape(label)}">{picture}</div>'
        f'<figcaption>{caption} <span class="needs-script">{button}</span></figcaption></figure>'
    )


def claims_table(book: Book, words: Say) -> str:
    """All of them, by verdict."""
    head = "".join(f"<th scope=col>{escape(words(f'table.{column}'))}</th>" for column in ("claim", "measured"))
    groups = "".join(_group(verdict, claims, book, words) for verdict, claims in book.tally.items() if claims)
    return boxed(f'<table class="verdicts"><thead><tr>{head}</tr></thead>{groups}</table>')


def _group(verdict: str, claims: list[str], book: Book, words: Say) -> str:
    rows = "".join(
        f'<tr><td><a href="#claim-{claim}">{escape(claim if answer is None else answer.claim)}</a></td>'
        f"<td>{'' if answer is None else escape(answer.decisive)}</td></tr>"
        for claim in claims
        for answer in (book.answers[claim],)
    )
    return (
        f'<tbody><tr id="claims-{verdict or "open"}">'
        f"<th scope=rowgroup colspan=2>{sign(verdict, words)} {len(claims)}</th></tr>{rows}</tbody>"
    )


def turn(places: Turn, words: Say) -> str:
    """The way to what comes before and to what comes after."""
    made = "".join(
        f'<a rel="{rel}" href="#{to.anchor}"><small>{escape(words(rel))}</small> {escape(to.title)}</a>'
        for rel, to in (("prev", places.previous), ("next", places.next))
        if to is not None
    )
    return f'<p class="turn">{made}</p>'
