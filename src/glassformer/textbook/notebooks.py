"""Ten notebooks in each language, made from the lessons: text, something to try, each lesson with picture and verdict.

`python -m glassformer.textbook.notebooks` writes them into notebooks/LANG; a test compares and runs them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from glassformer.files import write_text
from glassformer.lessons.catalogue import CHAPTERS
from glassformer.lessons.record import RECORDED, LessonResult
from glassformer.lessons.texts import fill_numbers, tables
from glassformer.words import LANGUAGES, say

# the chapters of each notebook; the first gives its title, introduction and something to try
NOTEBOOKS: dict[str, tuple[str, ...]] = {
    "01-text": ("overview", "data"),
    "02-embedding": ("embedding",),
    "03-position": ("position",),
    "04-attention": ("attention",),
    "05-residual": ("residual",),
    "06-norm": ("norm",),
    "07-feed-forward": ("feed_forward",),
    "08-stacks": ("stacks",),
    "09-training": ("training", "evaluation"),
    "10-families": ("families",),
}
QUICK = 10.0  # seconds: a lesson that takes no longer is measured again in the notebook itself
INSTALL = """try:
    import glassformer
except ModuleNotFoundError:
    %pip install --quiet "glassformer[images,ko-fonts,prices]"
"""


def notebook(name: str, lang: str) -> dict[str, Any]:
    """One notebook without outputs, for Jupyter and Colab."""
    chapters = NOTEBOOKS[name]
    opening = tables(lang, "notebooks", "cells")[chapters[0]]
    cells = [
        _text(f"# {opening['title']}\n\n{opening['intro']}\n\n{say('notebooks.how', lang)}"),
        _code(INSTALL),
        _code(opening["code"].strip()),
    ]
    for lesson in (lesson for chapter in chapters for lesson in CHAPTERS[chapter]):
        cells += _lesson(lesson, lang)
    cells.append(_text(say("notebooks.more", lang)))
    for number, cell in enumerate(cells):
        cell["id"] = f"{name[:2]}-{number:03}"
    metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _lesson(name: str, lang: str) -> list[dict[str, Any]]:
    """Title, question and easy text; the recorded result; the same measured again, at once or on request."""
    texts = tables(lang, "lessons", name)
    result = LessonResult.read(RECORDED / f"{name}.json")
    easy = fill_numbers(texts["easy"], result.data).strip()
    again = f'gf.lesson("{name}", lang="{lang}", fresh=True)'
    slow = say("notebooks.slow", lang, seconds=round(result.seconds))
    return [
        _text(f"## {texts['title']}\n\n*{texts['question']}*\n\n{easy}"),
        _code(f'import glassformer as gf\n\ngf.lesson("{name}", lang="{lang}")'),
        _code(again if result.seconds <= QUICK else f"# {slow}\n# {again}"),
    ]


def _text(source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": source.splitlines(keepends=True)}


def _code(source: str) -> dict[str, Any]:
    lines = source.rstrip().splitlines(keepends=True)
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": lines}


def write(folder: Path) -> list[Path]:
    """Writes all notebooks."""
    paths = []
    for lang in LANGUAGES:
        (folder / lang).mkdir(parents=True, exist_ok=True)
        for name in NOTEBOOKS:
            paths.append(folder / lang / f"{name}.ipynb")
            text = json.dumps(notebook(name, lang), ensure_ascii=False, indent=1)
            write_text(paths[-1], text + "\n", durable=False)
    return paths


if __name__ == "__main__":
    write(Path(sys.argv[1] if len(sys.argv) > 1 else "notebooks"))
