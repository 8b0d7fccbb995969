"""Parts of a page: a claim as a card, as a line inside a text, as a row in the table of all; a picture in its box."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from glassformer.lessons.shelf import Answer
from glassformer.lessons.told import MARKS
from glassformer.words import say


@dataclass(frozen=True)
class Say:
    """The sentences of the report, in the language of the page."""

    lang: str

    def __call__(self, key: str, **values: object) -> str:
        return say(f"report.{key}", self.lang, **values)

    def verdict(self, verdict: str) -> str:
        return say(f"verdicts.{verdict}", self.lang)


def badge(answer: Answer | None, words: Say) -> str:
    """The verdict as a sign and a word: never by colour alone."""
    if answer is None:
        return f'<span class="badge open"><span aria-hidden="true">○</span> {escape(words("unmeasured"))}</span>'
    mark, _ = MARKS[answer.verdict]
    word = escape(words.verdict(answer.verdict))
    stale = f' <span class="badge stale">{escape(words("stale"))}</span>' if answer.stale else ""
    return f'<span class="badge {answer.verdict}"><span aria-hidden="true">{mark}</span> {word}</span>{stale}'


def card(claim: str, sentence: str, answer: Answer | None, words: Say) -> str:
    """A claim with all that is known about it."""
    command = f"glassformer claims {claim} --fresh"
    says = "" if answer is None else f"<p>{escape(answer.says)}</p>"
    condition = ""
    if answer is not None and answer.condition:
        condition = f'<p class="condition"><b>{escape(words("condition"))}</b> {escape(answer.condition)}</p>'
    return (
        f'<section class="claim {"open" if answer is None else answer.verdict}" id="claim-{claim}" '
        f'data-find="{escape(sentence)}"><p class="verdict">{badge(answer, words)}</p>'
        f"<h4>{escape(sentence)}</h4>{says}{condition}"
        f'<p class="repeat"><span>{escape(words("repeat"))}</span> <code>{escape(command)}</code></p></section>'
    )


def measured(answer: Answer | None) -> str:
    """The sentence, and where it depends on something, on what."""
    return "" if answer is None else escape(" ".join(filter(None, (answer.says, answer.condition))))


def inline(claim: str, answer: Answer | None, words: Say) -> str:
    """A claim inside a text of another place, with a way to its card."""
    if answer is None:
        command = f"<code>glassformer claims {escape(claim)} --fresh</code>"
        return f'<span class="said">{badge(None, words)} {command}</span>'
    return (
        f'<span class="said">{badge(answer, words)} <a href="#claim-{claim}">{escape(answer.claim)}</a> '
        f'<span class="measured">{measured(answer)}</span></span>'
    )


def figure(picture: str, label: str, caption: str, words: Say) -> str:
    """A picture in its box, which a keyboard reaches; on a phone it can be made larger. `caption` is HTML."""
    button = f'<button type="button" class="button enlarge" aria-pressed="false">{escape(words("enlarge"))}</button>'
    return (
        f'<figure><div class="picture" tabindex="0" role="group" aria-label="{escape(label)}">{picture}</div>'
        f'<figcaption>{caption} <span class="needs-script">{button}</span></figcaption></figure>'
    )


def claims_table(answers: Mapping[str, Answer | None], words: Say) -> str:
    """All of them."""
    head = "".join(f"<th>{escape(words(f'table.{column}'))}</th>" for column in ("claim", "verdict", "measured"))
    rows = "".join(
        f'<tr><td><a href="#claim-{claim}">{escape(claim if answer is None else answer.claim)}</a></td>'
        f"<td>{badge(answer, words)}</td><td>{measured(answer)}</td></tr>"
        for claim, answer in answers.items()
    )
    return (
        f'<div class="scroll" tabindex="0" role="group"><table class="verdicts"><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )
