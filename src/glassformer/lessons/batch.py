"""Many lessons measured side by side, each in a process of its own with one thread; the longest first."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryFile
from threading import Thread

from glassformer.lessons.catalogue import lesson
from glassformer.lessons.journal import Journal
from glassformer.lessons.record import LessonResult, recorded
from glassformer.lessons.trained_models import is_trained

UNKNOWN = 60.0  # seconds of a lesson that nobody has measured yet
PACKAGE = Path(__file__).parents[2]


@dataclass(frozen=True)
class WorkerJob:
    """What a process does: measure a lesson, or train a model that lessons will ask for."""

    kind: str  # "lesson" or "model"
    name: str


@dataclass(frozen=True)
class Began:
    """A process has started."""

    job: WorkerJob


@dataclass(frozen=True)
class Moved:
    """How far a job is."""

    job: WorkerJob
    what: str
    share: float


@dataclass(frozen=True)
class Done:
    """A process has ended well."""

    job: WorkerJob
    result: LessonResult | None  # None: of a model


@dataclass(frozen=True)
class Failed:
    """A process has ended otherwise; in one line why."""

    job: WorkerJob
    why: str


Happening = Began | Moved | Done | Failed


def jobs(names: Sequence[str]) -> list[WorkerJob]:
    """Models that are not there yet come first: more than one lesson waits for each."""
    recipes = dict.fromkeys(recipe for name in names for recipe in lesson(name).models)
    missing = [WorkerJob("model", recipe) for recipe in recipes if not is_trained(recipe)]
    return [*missing, *(WorkerJob("lesson", name) for name in sorted(names, key=_seconds, reverse=True))]


def _seconds(name: str) -> float:
    found = recorded(name)
    return UNKNOWN if found is None else found.seconds


def measure_all(names: Sequence[str], folder: Path, workers: int, journal: Journal) -> Iterator[Happening]:
    """Measure lessons into a folder, `workers` at a time; a lesson that fails stops no other.

    What the journal has is not measured again; when nothing has failed it is closed. Whoever stops listening stops
    the processes.
    """
    done = journal.results()
    for name, result in done.items():
        yield Done(WorkerJob("lesson", name), result)
    waiting = deque(jobs([name for name in names if name not in done]))
    happening: SimpleQueue[Happening | None] = SimpleQueue()
    running: set[subprocess.Popen[str]] = set()
    threads = [
        Thread(target=_work, args=(waiting, folder, happening, running), daemon=True)
        for _ in range(min(workers, len(waiting)))
    ]
    failed = False
    try:
        for thread in threads:
            thread.start()
        left = len(threads)
        while left:
            event = happening.get()
            if event is None:
                left -= 1
                continue
            if isinstance(event, Done) and event.result is not None:
                journal.note(event.result)
            failed = failed or isinstance(event, Failed)
            yield event
        if not failed:
            journal.close()
    finally:
        waiting.clear()
        for process in list(running):
            process.kill()


def _work(
    waiting: deque[WorkerJob],
    folder: Path,
    happening: SimpleQueue[Happening | None],
    running: set[subprocess.Popen[str]],
) -> None:
    """One worker: job after job, until none is left."""
    try:
        while True:
            try:
                job = waiting.popleft()
            except IndexError:
                return
            happening.put(Began(job))
            try:
                happening.put(_run(job, folder, happening, running))
            except Exception as error:  # whatever it is, the others go on, and it is said
                happening.put(Failed(job, f"{type(error).__name__}: {error}"))
    finally:
        happening.put(None)


def _run(
    job: WorkerJob, folder: Path, happening: SimpleQueue[Happening | None], running: set[subprocess.Popen[str]]
) -> Done | Failed:
    command = [sys.executable, "-m", "glassformer.lessons.worker", job.kind, job.name, str(folder)]
    with TemporaryFile("w+", encoding="utf-8", errors="replace") as complaints:
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=complaints, text=True, encoding="utf-8", env=_environment()
        ) as process:
            running.add(process)
            try:
                for line in process.stdout or ():
                    if line.startswith("{"):
                        happening.put(Moved(job, **json.loads(line)))
            finally:
                running.discard(process)
        complaints.seek(0)
        said = complaints.read().strip().splitlines()
    if process.returncode:
        return Failed(job, said[-1] if said else f"exit {process.returncode}")
    return Done(job, LessonResult.read(folder / f"{job.name}.json") if job.kind == "lesson" else None)


def _environment() -> dict[str, str]:
    """One thread each; the same package as this one, wherever it was imported from."""
    paths = [str(PACKAGE), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(paths), "PYTHONUNBUFFERED": "1"}
