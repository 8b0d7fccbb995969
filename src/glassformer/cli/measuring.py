"""How measuring lessons looks while it runs: bars on a terminal, a line for each lesson elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from glassformer.words import say

if TYPE_CHECKING:
    from rich.progress import Progress

    from glassformer.lessons.batch import Happening, WorkerJob
    from glassformer.lessons.record import LessonResult
    from glassformer.lessons.trained_models import Watch


def measuring_bars(*, quiet: bool) -> Progress:
    """Bars on standard error, so that standard output holds only the result."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)
    columns = BarColumn(30), TextColumn("{task.percentage:>3.0f} %"), TextColumn("{task.description}", markup=False)
    hidden = quiet or not sys.stderr.isatty()
    return Progress(*columns, TimeElapsedColumn(), console=console, transient=True, disable=hidden)


class Bars:
    """The display of the command line: for one lesson what it does and how far it is, for several a bar for each."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet

    @contextmanager
    def lesson(self, title: str) -> Iterator[Watch]:
        with measuring_bars(quiet=self.quiet) as shown:
            if shown.disable and not self.quiet:
                shown.console.print(say("lesson.measuring", title=title))
            task = shown.add_task(title, total=1.0)
            yield lambda what, share: shown.update(task, completed=share, description=f"{title} · {what}")

    @contextmanager
    def lessons(self, count: int) -> Iterator[Callable[[Happening], None]]:
        """Follow several lessons; a failure is one line, and the others go on."""
        with measuring_bars(quiet=self.quiet) as shown:
            view = _View(shown, count, self.quiet)
            try:
                yield view.see
            except KeyboardInterrupt:
                shown.console.print(say("lesson.stopped", done=view.done, count=count))
                raise


class _View:
    """A bar for all lessons, and one for each that is being measured."""

    def __init__(self, shown: Progress, count: int, quiet: bool) -> None:
        self.shown, self.count, self.quiet = shown, count, quiet
        self.done = 0
        self.whole = shown.add_task(say("lesson.all", done=0, count=count), total=count)
        self.tasks: dict[WorkerJob, Any] = {}

    def see(self, event: Happening) -> None:
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
                    self.shown.console.print(say("lesson.failed", name=job.name, why=event.why))
                elif event.result is not None:
                    self.done += 1
                    self._finished(event.result)
        self.shown.update(
            self.whole, completed=self.done, description=say("lesson.all", done=self.done, count=self.count)
        )

    def _finished(self, result: LessonResult) -> None:
        if self.shown.disable and not self.quiet:
            values = {"done": self.done, "count": self.count, "name": result.name, "seconds": f"{result.seconds:g}"}
            self.shown.console.print(say("lesson.finished", **values))

    def _name(self, job: WorkerJob) -> str:
        return job.name if job.kind == "lesson" else say("lesson.training", recipe=job.name)
