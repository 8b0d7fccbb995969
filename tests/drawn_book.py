"""The pictures of the whole book, drawn once for all tests of a session that print it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from glassformer.textbook.book import Book
from glassformer.textbook.pictures import draw
from glassformer.words import LANGUAGES
from once import once


def _draw(cache: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GLASSFORMER_CACHE", str(cache))
        pictures = [each for lang in LANGUAGES for each in Book(lang).pictures.values()]
        assert draw(pictures, 1, lambda name, share: None) == {}


def drawn_before(cache: Path) -> None:
    """A cache of someone who has printed the book already."""
    shutil.copytree(once("book", _draw) / "drawn", cache / "drawn", copy_function=os.link)
