"""A list of judged claims that shows itself as a table in a terminal and in a notebook."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from glassformer.lessons import index
from glassformer.lessons.catalogue import LESSONS
from glassformer.lessons.lesson_results import JudgedClaim, LessonResults
from glassformer.lessons.measuring import NOBODY, Audience, with_lessons
from glassformer.lessons.verdict import WORDS
from glassformer.lessons.view import MARKS
from glassformer.show import Column, ColumnKind, Sheet, Styled, Table, as_html, as_text
from glassformer.words import language, say

COLUMNS: dict[str, ColumnKind] = {"id": "name", "verdict": "name", "claim": "text", "measured": "text"}


class Claims(list[JudgedClaim]):
    """A list that prints as a table."""

    def __init__(self, answers: Iterable[JudgedClaim], lang: str | None = None) -> None:
        super().__init__(answers)
        self.lang = lang or language()

    @classmethod
    def of(
        cls, results: LessonResults, ids: Sequence[str], lang: str | None = None, without: Collection[str] = ()
    ) -> Claims:
        """The named claims in the order given; all of them in reading order if none is named.

        `without`: lessons whose measurement has just failed; their old numbers must not be shown.
        """
        lessons, spoken = index.claims(), lang or language()
        asked = (claim for claim in index.claims_named(list(ids)) or lessons if lessons[claim] not in without)
        found = (results.answer(claim, spoken) for claim in asked)
        return cls((answer for answer in found if answer is not None), spoken)

    def shown(self) -> Sheet:
        """The table of claims, and the number of each verdict."""
        return Sheet(self._table(), self.summary())

    def summary(self) -> str:
        """The number of claims and of each verdict; how to measure stale ones again."""
        counts = {name: sum(answer.verdict == name for answer in self) for name in WORDS}
        line = say("lesson.summary", self.lang, count=len(self), **counts)
        stale = sum(answer.stale for answer in self)
        return f"{line}\n{say('lesson.some_stale', self.lang, count=stale)}" if stale else line

    def _table(self) -> Table:
        columns = (Column(say(f"lesson.columns.{key}", self.lang), kind) for key, kind in COLUMNS.items())
        table = Table(*columns, lines=True, lang=self.lang)
        for answer in self:
            mark, style = MARKS[answer.verdict]
            verdict = f"{mark} {say(f'verdicts.{answer.verdict}', self.lang)}"
            stale = f"\n{say('lesson.stale_mark', self.lang)}" if answer.stale else ""
            says = answer.says if answer.condition is None else f"{answer.says}\n{answer.condition}"
            table.add(answer.id, Styled(verdict + stale, style), answer.claim, says)
        return table

    def __rich__(self) -> Sheet:
        return self.shown()

    def __repr__(self) -> str:
        return as_text(self.shown())

    def _repr_html_(self) -> str:
        return as_html(self.shown())


def measured_claims(
    ids: Sequence[str],
    lang: str | None = None,
    *,
    fresh: bool = False,
    folder: Path | None = None,
    workers: int | None = None,
    audience: Audience = NOBODY,
) -> tuple[Claims, set[str]]:
    """The claims of these names, or all, measured where there is no result; and the lessons that could not be measured.

    With `fresh` and no name, lessons without a claim are measured too.
    """
    lessons = list(LESSONS) if fresh and not ids else index.lessons_of(list(ids))
    results, failed = with_lessons(lessons, fresh=fresh, folder=folder, workers=workers, audience=audience)
    return Claims.of(results, ids, lang, without=failed), failed
