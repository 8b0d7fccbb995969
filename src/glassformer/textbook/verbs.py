"""The textbook from Python: `gf.lesson("scaled_scores")`, `gf.claims()`, `gf.report("runs/first")`."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, runtime_checkable

from glassformer.config.values import one_of, path_of, word
from glassformer.lessons.catalogue import module_of
from glassformer.lessons.claims import Claims, measured_claims
from glassformer.lessons.lesson_results import LessonResults
from glassformer.lessons.measuring import with_lesson
from glassformer.lessons.view import LessonView
from glassformer.textbook.build import prepared_report
from glassformer.words import LANGUAGES, language


@runtime_checkable
class RunWithFolder(Protocol):
    """What training returns: a run that knows its folder."""

    @property
    def folder(self) -> Path: ...


def lesson(name: str, *, lang: str | None = None, fresh: bool = False) -> LessonView:
    """A lesson with its result: `.text("deep")`, `.verdicts`, `.data`, `.figure()`. It shows itself in a notebook.

    Measured now if there is no result, or with `fresh`; models that it uses are trained on first use.
    """
    module_of(word("name", name))
    spoken = _spoken(lang)
    return LessonView(name, spoken, with_lesson(name, fresh=fresh))


def claims(*ids: str, lang: str | None = None, fresh: bool = False) -> Claims:
    """What was measured about every claim, or about those named: `.verdict`, `.says`, `.measured`, `.condition`.

    A claim that is named is measured now where it has no result, and with `fresh` in any case; `gf.claims()` alone
    shows what is known and measures nothing. A list that prints as a table, in a notebook too.
    """
    spoken = _spoken(lang)
    named = [word("id", each) for each in ids]
    if not named and not fresh:
        return Claims.of(LessonResults(), [], spoken)
    return measured_claims(named, spoken, fresh=fresh)[0]


def report(
    run: str | Path | RunWithFolder | None = None,
    *,
    out: str | Path = "report",
    lang: str = "both",
    fresh: bool = False,
    force: bool = False,
) -> list[Path]:
    """Write the textbook, with a chapter on a run if one is given; returns the files written.

    A folder that holds anything but an older report is left alone unless `force` is given. With `fresh` every lesson
    is measured again first.
    """
    folder = None if run is None else run.folder if isinstance(run, RunWithFolder) else path_of("run", run)
    langs = LANGUAGES if word("lang", lang) == "both" else (one_of("lang", lang, LANGUAGES),)
    return prepared_report(path_of("out", out), langs, folder, fresh=fresh, force=force)[0].build()


def _spoken(lang: str | None) -> str:
    return language() if lang is None else one_of("lang", lang, LANGUAGES)
