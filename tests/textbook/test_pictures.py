from __future__ import annotations

import os
import time
from dataclasses import replace
from queue import SimpleQueue
from threading import Thread

import pytest

from glassformer.lessons.view import LessonView
from glassformer.textbook import pictures
from glassformer.textbook.pictures import Picture, draw, picture

NAME = "scaled_scores"


pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture
def found() -> Picture:
    made = picture(LessonView(NAME, "en"))
    assert made is not None
    return made


@pytest.mark.slow
def test_what_is_drawn_is_kept(found: Picture) -> None:
    assert (found.is_drawn, found.svg, found.png) == (False, "", b"")
    seen: list[float] = []
    assert draw([found], 1, lambda name, share: seen.append(share)) == {}
    assert found.is_drawn and found.svg.startswith("<svg") and found.png.startswith(b"\x89PNG")
    assert found.svg == LessonView(NAME, "en").svg(), "a notebook shows another picture than the book"
    assert seen == [1.0]
    assert draw([found], 1, lambda name, share: pytest.fail("it is drawn")) == {}


@pytest.mark.slow
def test_what_is_old_is_drawn_again(found: Picture) -> None:
    draw([found], 1, lambda name, share: None)
    old = found.file.with_name("old.svg")
    old.touch()
    os.utime(old, (0, 0))
    draw([], 1, lambda name, share: None)
    assert not old.exists() and found.is_drawn


def test_other_numbers_and_languages_are_other_pictures(found: Picture) -> None:
    korean = picture(LessonView(NAME, "ko"))
    assert korean is not None and korean.file != found.file


def test_a_lesson_without_numbers_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glassformer.lessons.lesson_results.recorded", lambda name: None)
    assert picture(LessonView(NAME, "en")) is None


@pytest.mark.slow
def test_what_cannot_be_drawn_is_said(found: Picture) -> None:
    broken = replace(found, data={}, file=found.file.with_name("broken"))
    errors = draw([broken, found], 1, lambda name, share: None)
    assert list(errors) == [NAME] and errors[NAME].startswith("KeyError")
    assert found.is_drawn and not broken.is_drawn


@pytest.mark.slow
def test_many_are_drawn_by_other_processes(found: Picture, monkeypatch: pytest.MonkeyPatch) -> None:
    several = [replace(found, file=found.file.with_name(f"copy{i}")) for i in range(pictures.FEW)]
    broken = replace(found, data={}, file=found.file.with_name("broken"))
    errors = draw([broken, *several], 2, lambda name, share: None)
    assert all(each.is_drawn for each in several)
    assert errors[NAME].startswith("KeyError")


@pytest.mark.slow
def test_a_process_that_dies_takes_one_picture_with_it(found: Picture, monkeypatch: pytest.MonkeyPatch) -> None:
    several = [replace(found, file=found.file.with_name(f"copy{i}")) for i in range(pictures.FEW + 1)]
    real, started = pictures._start, []

    def start() -> object:
        started.append(real())
        if len(started) == 1:
            started[0].kill()
            started[0].wait()
        return started[-1]

    monkeypatch.setattr(pictures, "_start", start)
    draw(several, 1, lambda name, share: None)
    assert [each.is_drawn for each in several] == [False, True, True, True]


def test_a_closed_painter_starts_no_other(found: Picture, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when Ctrl-C ends the drawing while a picture is on its way."""
    painter = pictures._Painter()
    monkeypatch.setattr(pictures, "_start", lambda: pytest.fail("another process was started"))
    waiting: SimpleQueue[Picture] = SimpleQueue()
    drawn: SimpleQueue[tuple[Picture, str]] = SimpleQueue()
    for each in (found, found):
        waiting.put(each)
    thread = Thread(target=painter.work, args=(waiting, drawn))
    thread.start()
    while waiting.qsize() == 2:
        time.sleep(0.01)
    painter.close()
    thread.join()
    assert painter.process.poll() is not None and waiting.qsize() >= 1 and not found.is_drawn
