"""How measuring lessons looks while it runs: bars on a terminal, a line for each lesson elsewhere."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.words import say

if TYPE_CHECKING:
    from rich.progress import Progress

    from glassformer.lessons.batch import WorkerJob
    from glassformer.lessons.record import LessonResult
    from glassformer.lessons.trained_models import Watch


def bars(*, quiet: bool) -> Progress:
    """On standard error, so that what is printed stays what was asked for."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)
    columns = BarColumn(30), TextColumn("{task.percentage:>3.0f} %"), TextColumn("{task.description}", markup=False)
    hidden = quiet or not sys.stderr.isatty()
    return Progress(*columns, TimeElapsedColumn(), console=console, transient=True, disable=hidden)


@contextmanager
def watched(title: str, *, quiet: bool) -> Iterator[Watch]:
    """Somebody who watches one lesson: what it does, and how far it is."""
    with bars(quiet=quiet) as shown:
        if shown.disable and not quiet:
            shown.console.print(say("lesson.measuring", title=title))
        task = shown.add_task(title, total=1.0)
        yield lambda what, share: shown.update(task, completed=share, description=f"{title} · {what}")


def measured(names: Sequence[str], folder: Path, workers: int, *, quiet: bool) -> tuple[dict[str, LessonResult], bool]:
    """Measure lessons side by side; their results, and whether all went well. A failure is one line, and goes on."""
    from glassformer.lessons.batch import measure_all
    from glassformer.lessons.journal import Journal

    found: dict[str, LessonResult] = {}
    with bars(quiet=quiet) as shown:
        view = _View(shown, len(names), quiet)
        try:
            with closing(measure_all(names, folder, workers, Journal(names, folder))) as happening:  # type: ignore[type-var]
                for event in happening:
                    view.see(event, found)
        except KeyboardInterrupt:
            shown.console.print(say("lesson.stopped", done=len(found), count=len(names)))
            raise
    return found, not view.failed


class _View:
    """A bar for all of it, and one for each lesson that is being measured."""

    def __init__(self, shown: Progress, count: int, quiet: bool) -> None:
        self.shown, self.count, self.quiet = shown, count, quiet
        self.failed = False
        self.whole = shown.add_task(say("lesson.all", done=0, count=count), total=count)
        self.tasks: dict[WorkerJob, Any] = {}

    def see(self, event: Any, found: dict[str, LessonResult]) -> None:
        from glassformer.lessons import batch

        job = event.job
        match event:
            case batch.Began():
                self.tasks[job] = self.shown.add_task(self._name(job), total=1.0)
            case batch.Moved():
                self.shown.update(
                    self.tasks[job], completed=event.share, description=f"{self._name(job)} · {event.what}"
                )
            case batch.Done() | batch.Failed():
                if job in self.tasks:
                    self.shown.remove_task(self.tasks.pop(job))
                if isinstance(event, batch.Failed):
                    self.failed = True
                    self.shown.console.print(say("lesson.failed", name=job.name, why=event.why))
                elif event.result is not None:
                    found[job.name] = event.result
                    self._finished(event.result, len(found))
        self.shown.update(
            self.whole, completed=len(found), description=say("lesson.all", done=len(found), count=self.count)
        )

    def _finished(self, result: LessonResult, done: int) -> None:
        if self.shown.disable and not self.quiet:
            values = {"done": done, "count": self.count, "name": result.name, "seconds": f"{result.seconds:g}"}
            self.shown.console.print(say("lesson.finished", **values))

    def _name(self, job: WorkerJob) -> str:
        return job.name if job.kind == "lesson" else say("lesson.training", recipe=job.name)


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
