"""The pictures of the whole book, drawn once for all tests of a session that print it."""

from __future__ import annotations

import os
import shutil
from functools import partial
from pathlib import Path

import pytest

from glassformer.textbook.book import Book
from glassformer.textbook.pictures import draw
from once import once


def _draw(lang: str, cache: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GLASSFORMER_CACHE", str(cache))
        assert draw(Book(lang).pictures.values(), 1, lambda name, share: None) == {}


def drawn_before(cache: Path, *langs: str) -> None:
    """A cache of someone who has printed the book already."""
    for lang in langs:
        drawn = once(f"book-{lang}", partial(_draw, lang)) / "drawn"
        shutil.copytree(drawn, cache / "drawn", copy_function=os.link, dirs_exist_ok=True)
