"""Measures lessons where needed, for `lesson`, `claims` and `report`, in Python and on the command line.

Pass an `Audience` to follow the progress.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from typing import Protocol

from glassformer.errors import warn
from glassformer.lessons import index
from glassformer.lessons.batch import Done, Failed, Happening, Journal, measure_all
from glassformer.lessons.lesson_results import LessonResults
from glassformer.lessons.record import LessonResult, measure, own, setup_of
from glassformer.lessons.setup import nobody
from glassformer.lessons.trained_models import Watch
from glassformer.words import language


class Audience(Protocol):
    """Follows a measurement; the command line shows bars."""

    def lesson(self, title: str) -> AbstractContextManager[Watch]:
        """Called when one lesson is measured in this process."""

    def lessons(self, count: int) -> AbstractContextManager[Callable[[Happening], None]]:
        """Called when several lessons are measured in parallel."""


class NoAudience:
    """Ignores progress; a lesson that could not be measured is a warning."""

    def lesson(self, title: str) -> AbstractContextManager[Watch]:
        return nullcontext(nobody)

    def lessons(self, count: int) -> AbstractContextManager[Callable[[Happening], None]]:
        return nullcontext(_warn_of_failure)


def _warn_of_failure(event: Happening) -> None:
    if isinstance(event, Failed):
        warn("lesson_failed", name=event.job.name, why=event.why)


NOBODY = NoAudience()


def with_lesson(name: str, *, fresh: bool = False, audience: Audience = NOBODY) -> LessonResults:
    """The results, with this lesson measured if its result is missing or stale, or if `fresh`.

    The result goes into the user's cache, so that it is not measured twice.
    """
    results = LessonResults()
    if not fresh and results.result(name) is not None and not results.stale(name):
        return results
    with audience.lesson(index.entry(name, language()).title) as watch:
        result = measure(name, setup_of(name, watch))
    result.write(own())
    return LessonResults({name: result})


def with_lessons(
    names: Sequence[str],
    *,
    fresh: bool = False,
    folder: Path | None = None,
    workers: int | None = None,
    audience: Audience = NOBODY,
) -> tuple[LessonResults, set[str]]:
    """The results, with these lessons measured where there is no result, or all of them with `fresh`.

    Also the names of lessons, and of the models they need, that failed. A stale result is shown as such.
    """
    results = LessonResults()
    wanted = list(names) if fresh else [name for name in names if results.result(name) is None]
    if not wanted:
        return results, set()
    place = folder or own()
    found: dict[str, LessonResult] = {}
    failed: set[str] = set()
    happening = measure_all(wanted, place, workers or cores(), Journal(wanted, place))
    with audience.lessons(len(wanted)) as see, closing(happening):
        for event in happening:
            if isinstance(event, Done) and event.result is not None:
                found[event.job.name] = event.result
            elif isinstance(event, Failed):
                failed.add(event.job.name)
            see(event)
    return LessonResults(found), failed


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
