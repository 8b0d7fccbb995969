"""The pictures of the book, each drawn once for all tests of a session, and looked at while it is there."""

from __future__ import annotations

import json
import logging
import os
import shutil
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

import legible
from glassformer.lessons.catalogue import LESSONS
from glassformer.lessons.view import LessonView
from glassformer.show.figure import DOTS
from glassformer.show.theme import LIGHT, Theme
from glassformer.textbook.painter import paint
from glassformer.textbook.pictures import Picture, picture
from once import once

READABLE = (legible.misprints, legible.cut_off, legible.crossing, legible.small, legible.unexplained)
HONEST = (legible.rounded_ticks, legible.bars_off_zero, legible.unmarked_cuts, legible.bands_above_one)


@dataclass(frozen=True)
class Drawn:
    """The files of a picture, and what there was to say about the figure that was written into them."""

    svg: str
    png: bytes
    alternative: str
    seen: dict[str, Any]


def drawn(name: str, lang: str) -> Drawn:
    """The picture of a lesson as the book prints it."""
    folder = _folder(name, lang)
    svg, png = (next(folder.glob(f"drawn/*.{kind}")) for kind in ("svg", "png"))
    seen = json.loads((folder / "seen.json").read_text(encoding="utf-8"))
    return Drawn(svg.read_text(encoding="utf-8"), png.read_bytes(), seen.pop("alternative"), seen)


def drawn_before(cache: Path, *langs: str) -> None:
    """A cache of someone who has printed the book already."""
    for lang in langs:
        for name in LESSONS:
            shutil.copytree(_folder(name, lang) / "drawn", cache / "drawn", copy_function=os.link, dirs_exist_ok=True)


def seen(figure: Figure, theme: Theme) -> dict[str, Any]:
    """What a careful reader would say of a figure that has just been drawn."""
    said = {look.__name__: look(figure) for look in (*READABLE, *HONEST)}
    return {**said, "faint": legible.faint(figure, theme), "inches": list(figure.get_size_inches())}


def _folder(name: str, lang: str) -> Path:
    return once(f"picture-{lang}-{name}", partial(_draw, name, lang))


def _draw(name: str, lang: str, folder: Path) -> None:
    """By a process of the tests: there warnings are errors, whoever asks first."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GLASSFORMER_CACHE", str(folder))
        each = picture(LessonView(name, lang))
    assert isinstance(each, Picture)
    each.file.parent.mkdir(parents=True)
    logged = _Logged()
    logging.getLogger().addHandler(logged)
    try:
        figure = paint(each.name, each.lang, each.data, each.alternative, each.file)
    finally:
        logging.getLogger().removeHandler(logged)
    figure.dpi = DOTS  # as it was written last
    said = {"alternative": each.alternative, "logged": logged.lines, **seen(figure, LIGHT)}
    (folder / "seen.json").write_text(json.dumps(said), encoding="utf-8")


class _Logged(logging.Handler):
    """Whatever is said, from a warning upwards."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())
