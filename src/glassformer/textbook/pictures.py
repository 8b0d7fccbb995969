"""The pictures of all lessons, drawn in parallel and cached: an unchanged picture is drawn once."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache as once
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

import glassformer.lessons
import glassformer.show
from glassformer.files import disk
from glassformer.fonts import hangul_font
from glassformer.lessons.trained_models import cache
from glassformer.lessons.view import LessonView
from glassformer.textbook.painter import paint

FEW = 3  # so few are drawn in this process: starting another takes as long
KEPT = 30 * 24 * 3600  # seconds
PACKAGE = Path(__file__).parents[2]


@dataclass(frozen=True)
class Picture:
    """The picture of a lesson in a language; `file` is without suffix, for .svg and .png."""

    name: str
    lang: str
    data: dict[str, Any]
    alternative: str
    file: Path

    @property
    def is_drawn(self) -> bool:
        return self.file.with_suffix(".svg").is_file() and self.file.with_suffix(".png").is_file()

    @property
    def svg(self) -> str:
        """The SVG; "" if it is not drawn."""
        path = self.file.with_suffix(".svg")
        return path.read_text(encoding="utf-8") if path.is_file() else ""

    @property
    def png(self) -> bytes:
        path = self.file.with_suffix(".png")
        return path.read_bytes() if path.is_file() else b""


def picture(view: LessonView) -> Picture | None:
    """The picture of a lesson; None if there are no numbers to draw."""
    if view.result is None:
        return None
    alternative = view.part("alt")
    parts = [view.name, view.lang, alternative, json.dumps(view.data, sort_keys=True), _way(), _words(view)]
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:20]
    return Picture(view.name, view.lang, view.data, alternative, cache() / "drawn" / digest)


@once
def _way() -> str:
    """What every picture depends on: the code of lessons and panels, matplotlib, the font."""
    from matplotlib import __version__

    digest = hashlib.sha256(f"{__version__} {hangul_font()}".encode())
    for package in (glassformer.lessons.__file__, glassformer.show.__file__):
        for path in sorted(Path(package).parent.rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _words(view: LessonView) -> str:
    from glassformer.lessons.texts import tables

    return json.dumps(tables(view.lang, "lessons", view.name)["picture"])


def draw(pictures: Iterable[Picture], workers: int, watch: Callable[[str, float], None]) -> dict[str, str]:
    """Draws missing pictures; returns those that failed, and why."""
    waiting: SimpleQueue[Picture] = SimpleQueue()
    missing = [picture for picture in pictures if not picture.is_drawn]
    for each in missing:
        waiting.put(each)
    _tidy()
    drawn: SimpleQueue[tuple[Picture, str]] = SimpleQueue()
    painters = _by_ourselves if len(missing) <= FEW else _by_others
    with painters(waiting, drawn, workers):
        errors: dict[str, str] = {}
        for number in range(len(missing)):
            found, error = drawn.get()
            errors |= {found.name: error} if error else {}
            watch(found.name, (number + 1) / len(missing))
    return errors


def _tidy() -> None:
    """Deletes old pictures, of code and results that no longer exist."""
    folder = cache() / "drawn"
    with disk(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.iterdir():
            if time.time() - path.stat().st_mtime > KEPT:
                path.unlink(missing_ok=True)


@contextmanager
def _by_ourselves(
    waiting: SimpleQueue[Picture], drawn: SimpleQueue[tuple[Picture, str]], workers: int
) -> Iterator[None]:
    while not waiting.empty():
        each = waiting.get()
        try:
            paint(each.name, each.lang, each.data, each.alternative, each.file)
            drawn.put((each, ""))
        except Exception as error:  # the page notes the missing picture
            drawn.put((each, f"{type(error).__name__}: {error}"))
    yield


@contextmanager
def _by_others(waiting: SimpleQueue[Picture], drawn: SimpleQueue[tuple[Picture, str]], workers: int) -> Iterator[None]:
    painters = [_Painter() for _ in range(min(workers, waiting.qsize()))]
    try:
        for painter in painters:
            Thread(target=painter.work, args=(waiting, drawn), daemon=True).start()
        yield
    finally:
        for painter in painters:
            painter.close()


class _Painter:
    """Another process that draws pictures one by one, answering each before the next."""

    def __init__(self) -> None:
        self.process = _start()
        self.closed = False

    def work(self, waiting: SimpleQueue[Picture], drawn: SimpleQueue[tuple[Picture, str]]) -> None:
        while not self.closed:
            try:
                each = waiting.get_nowait()
            except Empty:
                return
            try:
                drawn.put((each, self.ask(each)))
            except (OSError, ValueError) as error:  # the process is gone, and its picture with it
                drawn.put((each, f"{type(error).__name__}: {error}"))
                if not self.closed:
                    self._end()
                    self.process = _start()

    def ask(self, each: Picture) -> str:
        """Draws a picture; returns the error, "" if there is none."""
        assert self.process.stdin is not None and self.process.stdout is not None
        order = {"name": each.name, "lang": each.lang, "data": each.data, "alternative": each.alternative}
        self.process.stdin.write(json.dumps({**order, "to": str(each.file)}) + "\n")
        self.process.stdin.flush()
        return str(json.loads(self.process.stdout.readline())["error"])

    def close(self) -> None:
        """Closes it for good: later calls start no new process."""
        self.closed = True
        self._end()

    def _end(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()


def _start() -> subprocess.Popen[str]:
    paths = [str(PACKAGE), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-m", "glassformer.textbook.painter"]
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=environment,
        start_new_session=True,  # Ctrl-C goes to the command only, which ends its painters
    )
