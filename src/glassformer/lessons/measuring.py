"""When a lesson is measured: the one way of `lesson`, `claims` and `report`, in Python and at the prompt.

Whoever wants to see how far it is passes an `Audience`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from typing import Protocol

from glassformer.lessons import index
from glassformer.lessons.batch import Done, Failed, Happening, Journal, measure_all
from glassformer.lessons.lesson_results import LessonResults
from glassformer.lessons.record import LessonResult, measure, own, setup_of
from glassformer.lessons.setup import nobody
from glassformer.lessons.trained_models import Watch
from glassformer.words import language


class Audience(Protocol):
    """Who watches a measurement; the command line shows bars."""

    def lesson(self, title: str) -> AbstractContextManager[Watch]:
        """One lesson is measured in this process."""

    def lessons(self, count: int) -> AbstractContextManager[Callable[[Happening], None]]:
        """Several lessons are measured side by side."""


class NoAudience:
    """Nobody watches."""

    def lesson(self, title: str) -> AbstractContextManager[Watch]:
        return nullcontext(nobody)

    def lessons(self, count: int) -> AbstractContextManager[Callable[[Happening], None]]:
        return nullcontext(lambda event: None)


NOBODY = NoAudience()


def with_lesson(name: str, *, fresh: bool = False, audience: Audience = NOBODY) -> LessonResults:
    """The results, that of this lesson measured by the code as it is now; with `fresh` in any case.

    What a person measures goes into their cache, so that it is not measured twice.
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
    """The results, those of these lessons measured now where there are none, or all of them with `fresh`.

    Also the names of lessons, and of models they need, that could not be measured. A stale result is shown as such.
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
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
