"""Measures many lessons in parallel, each in its own process with one thread, the longest first."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryFile
from threading import Thread

from glassformer.files import disk, write_json
from glassformer.lessons.catalogue import lesson
from glassformer.lessons.record import LessonResult, current, read_result, recorded
from glassformer.lessons.trained_models import cache, is_trained, to_train

UNKNOWN = 60.0  # seconds assumed for a lesson without a result
PACKAGE = Path(__file__).parents[2]


@dataclass(frozen=True)
class WorkerJob:
    """What a process does: measure a lesson, or train a model that lessons need."""

    kind: str  # "lesson" or "model"
    name: str


@dataclass(frozen=True)
class Began:
    """A process has started."""

    job: WorkerJob


@dataclass(frozen=True)
class Moved:
    """The progress of a job."""

    job: WorkerJob
    what: str
    share: float


@dataclass(frozen=True)
class Done:
    """A process has succeeded."""

    job: WorkerJob
    result: LessonResult | None  # None for a model


@dataclass(frozen=True)
class Failed:
    """A process has failed; one line says why."""

    job: WorkerJob
    why: str


Happening = Began | Moved | Done | Failed


class Journal:
    """What a long measurement has done so far: after an interruption the same command continues where it stopped.

    It belongs to these lessons and this folder; another set of lessons has its own journal.
    """

    def __init__(self, names: Sequence[str], folder: Path) -> None:
        self.names, self.folder = list(names), folder
        digest = hashlib.sha256("\n".join([str(folder.resolve()), *sorted(names)]).encode()).hexdigest()[:10]
        self.path = cache() / "journals" / f"{digest}.json"
        self._done: dict[str, str] = self._read()

    def _read(self) -> dict[str, str]:
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):  # missing, or left half written by a killed process
            return {}
        return {str(name): str(mark) for name, mark in found.items()} if isinstance(found, dict) else {}

    def results(self) -> dict[str, LessonResult]:
        """The finished results that are readable and not stale."""
        found = {}
        for name, mark in self._done.items():
            if name not in self.names or mark != current(name):
                continue
            result = read_result(self.folder / f"{name}.json")
            if result is not None and result.fingerprint == mark:
                found[name] = result
        return found

    def note(self, result: LessonResult) -> None:
        self._done[result.name] = result.fingerprint
        with disk(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
        write_json(self.path, self._done)

    def close(self) -> None:
        """All is done: the next measurement starts from the beginning."""
        with disk(self.path):
            self.path.unlink(missing_ok=True)


def jobs(names: Sequence[str]) -> list[WorkerJob]:
    """The jobs; models not trained yet come first, because several lessons wait for each."""
    needed = dict.fromkeys(recipe for name in names for recipe in to_train(lesson(name)))
    missing = [WorkerJob("model", recipe) for recipe in needed if not is_trained(recipe)]
    return [*missing, *(WorkerJob("lesson", name) for name in sorted(names, key=_seconds, reverse=True))]


def _seconds(name: str) -> float:
    found = recorded(name)
    return UNKNOWN if found is None else found.seconds


def measure_all(names: Sequence[str], folder: Path, workers: int, journal: Journal) -> Generator[Happening]:
    """Measure lessons into a folder, `workers` at a time; a failed lesson does not stop the others.

    Results in the journal are not measured again; if nothing fails, it is closed at the end. Closing the generator
    stops the processes.
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
    """One worker: runs jobs until none is left."""
    try:
        while True:
            try:
                job = waiting.popleft()
            except IndexError:
                return
            happening.put(Began(job))
            try:
                happening.put(_run(job, folder, happening, running))
            except Exception as error:  # any failure is reported, and the others continue
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
    """One thread per process, and the same copy of the package as in this one."""
    paths = [str(PACKAGE), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(paths), "PYTHONUNBUFFERED": "1"}
