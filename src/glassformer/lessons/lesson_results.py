"""The available results, each read once: lessons, claims, report and notebooks take their numbers from here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from glassformer.lessons import index
from glassformer.lessons.catalogue import LESSONS, lesson
from glassformer.lessons.record import LessonResult, recorded
from glassformer.lessons.statistics import LEVEL
from glassformer.lessons.texts import HOLE, fill_numbers, look_up, tables
from glassformer.lessons.verdict import NAMED, Side, Verdict, VerdictWord, listed
from glassformer.show.signs import format_value
from glassformer.words import say, sentences

MISFITS = (AttributeError, IndexError, KeyError, TypeError, ValueError)  # an old result that this code cannot read
MISSING = "–"
FEW = 9  # numbers that a reader takes in at once: two means, an interval and their context
NUMBER = re.compile(r"\d[\d.,]*\d|\d")
# after a full stop that ends a sentence, and after a semicolon
_CLAUSES = re.compile(r"(?<=[가-힣]\. )|(?<=[a-z)\]%\d]\. )(?=[A-Z가-힣\[\d])|(?<=; )")


@dataclass(frozen=True)
class JudgedClaim:
    """A claim, what was measured about it, and the verdict."""

    id: str
    lesson: str
    claim: str  # the sentence that is tested
    verdict: VerdictWord
    measured: Mapping[str, Any]
    says: str  # the measurement in a sentence
    condition: str | None  # what it depends on
    sides: Mapping[str, Side]  # conditions and readings, each with its own verdict
    stale: bool
    source: Mapping[str, Any]  # where the numbers come from

    @property
    def command(self) -> str:
        return f"glassformer claims {self.id} --fresh"

    @property
    def decisive(self) -> str:
        """The few numbers that decide: the beginning of the condition if there is one, else of the measurement."""
        return beginning(self.condition or self.says)[0]

    @property
    def further(self) -> list[str]:
        """The other measurements, which a page folds away; no number is repeated."""
        rest = beginning(self.condition or self.says)[1]
        if self.condition is None:
            return [rest] if rest else []
        return [self.says, *([rest] if set(NUMBER.findall(rest)) - set(NUMBER.findall(self.says)) else [])]

    def to_json(self) -> dict[str, Any]:
        first = {"id": self.id, "claim": self.claim, "verdict": self.verdict, "measured": dict(self.measured)}
        rest = {"lesson": self.lesson, "says": self.says, "stale": self.stale, "source": dict(self.source)}
        sides = {name: side.to_json() for name, side in self.sides.items()}
        return {**first, "condition": self.condition, "sides": sides, "command": self.command, **rest}


def beginning(text: str) -> tuple[str, str]:
    """Splits a text: the first sentences or clauses with at most `FEW` numbers, and the rest."""
    clauses = _CLAUSES.split(text.strip())
    taken, numbers = 0, 0
    for clause in clauses:
        more = len(NUMBER.findall(clause))
        if numbers and numbers + more > FEW:
            break
        taken, numbers = taken + 1, numbers + more
    first, rest = "".join(clauses[:taken]).strip(), "".join(clauses[taken:]).strip()
    if first.endswith(";"):  # a clause becomes a sentence
        return f"{first[:-1]}.", rest[:1].upper() + rest[1:]
    return first, rest


class LessonResults:
    """`given` results come first, then the user's own, then those of the package."""

    def __init__(self, given: Mapping[str, LessonResult] | None = None) -> None:
        self._results: dict[str, LessonResult | None] = dict(given or {})
        self._stale: dict[str, bool] = {}
        self._verdicts: dict[str, Mapping[str, Verdict]] = {}

    def result(self, name: str) -> LessonResult | None:
        """The result of a lesson; None if it was never measured, or only by code whose data cannot be read now."""
        if name not in self._results:
            found = recorded(name)
            self._results[name] = found if found is not None and self._readable(name, found) else None
        return self._results[name]

    def _readable(self, name: str, result: LessonResult) -> bool:
        """Whether it has all data that the verdicts and sentences need."""
        try:
            verdicts = lesson(name).verdicts(result.data)
            texts = tables("en", "lessons", name)
            for part in ("caption", "alt", "easy", "deep"):
                fill_numbers(texts[part], result.data, lambda of, hole: "")
            for claim, verdict in verdicts.items():
                fill_numbers(texts["claims"][claim]["measured"], verdict.measured)
        except MISFITS:
            return False
        return True

    def stale(self, name: str) -> bool:
        if name not in self._stale:
            result = self.result(name)
            self._stale[name] = result is not None and result.stale
        return self._stale[name]

    def verdicts(self, name: str) -> Mapping[str, Verdict]:
        if name not in self._verdicts:
            result = self.result(name)
            self._verdicts[name] = {} if result is None else result.verdicts()
        return self._verdicts[name]

    def answer(self, claim: str, lang: str) -> JudgedClaim | None:
        """A claim with its verdict; None if it was not measured, or no lesson answers it."""
        name = index.claims().get(claim)
        verdict = None if name is None else self.verdicts(name).get(claim)
        result = None if name is None else self.result(name)
        if name is None or verdict is None or result is None:
            return None
        words = tables(lang, "lessons", name)["claims"][claim]
        return JudgedClaim(
            id=claim,
            lesson=name,
            claim=words["claim"],
            verdict=verdict.verdict,
            measured=verdict.measured,
            says=says(words["measured"], verdict, lang),
            condition=condition(words["condition"], verdict),
            sides=verdict.sides,
            stale=self.stale(name),
            source=source(result),
        )

    def answers(self, lang: str) -> list[JudgedClaim]:
        """Every measured claim, in reading order."""
        found = (self.answer(claim, lang) for claim in index.claims())
        return [answer for answer in found if answer is not None]

    def insert(self, lang: str, of: str, hole: str) -> str:
        """What {{claim:ID}}, {{meaning:WORD}}, {{tally:NAME}} and {{LESSON:path|form}} stand for, as Markdown.

        A dash if there is no value.
        """
        found = HOLE.fullmatch(hole)
        path, form = (found["path"].strip(), found["form"] or "") if found else ("", "")
        if of == "claim":
            return in_line(self.answer(path, lang), path, lang)
        if of == "meaning":
            return say(f"meanings.{path}", lang)
        if of == "tally":
            return str(tally()[path])
        result = self.result(of) if of in LESSONS else None
        try:
            return MISSING if result is None else format_value(look_up(result.data, path), form)
        except MISFITS:
            return MISSING


def source(result: LessonResult) -> dict[str, Any]:
    """The provenance of a result."""
    keys = ("command", "commit", "versions", "machine", "seeds", "seconds", "fingerprint")
    return {key: getattr(result, key) for key in keys}


def tally() -> dict[str, int]:
    """The number of claims, and how many would be decided by chance alone if there were no effects."""
    claims = len(index.claims())
    return {"all": claims, "chance": round((1 - LEVEL) * claims)}


def says(text: str, verdict: Verdict, lang: str) -> str:
    """The measurement in a sentence; if some of several sides are undecided, it names them."""
    sentence = fill_numbers(text, verdict.measured)
    if len(verdict.sides) < 2 or not any(side.verdict == "undecided" for side in verdict.sides.values()):
        return sentence
    named = {
        key: listed(_named(name, lang) for name, side in verdict.sides.items() if side.verdict == word)
        for key, word in NAMED.items()
    }
    return f"{sentence} {say('lesson.open_sides', lang, **named)}"


def _named(side: str, lang: str) -> str:
    """A side as a person reads it: "post/loss" is post-norm, loss; a number stays a number."""
    known = sentences(lang)
    return " ".join(known.get(f"sides.{part}", part) for part in side.split("/"))


def condition(text: str, verdict: Verdict) -> str | None:
    """What the claim depends on; None for every verdict but "depends"."""
    return fill_numbers(text, verdict.measured) if verdict.verdict == "depends" else None


def in_line(answer: JudgedClaim | None, claim: str, lang: str) -> str:
    """A claim with its verdict inside a text."""
    if answer is None:
        return say("lesson.claim_unmeasured", lang, command=f"glassformer claims {claim} --fresh")
    verdict = say(f"verdicts.{answer.verdict}", lang)
    return f"{answer.claim} **{verdict}**: {answer.decisive}"


def unfilled(text: str) -> str:
    """A text with a dash for every number: the lesson was not measured."""
    return re.sub(HOLE, MISSING, text)
