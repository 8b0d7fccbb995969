from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from glassformer.lessons.catalogue import CHAPTERS
from glassformer.textbook.notebooks import NOTEBOOKS, notebook
from glassformer.words import LANGUAGES

FOLDER = Path(__file__).parents[2] / "notebooks"
ALL = [(name, lang) for lang in LANGUAGES for name in NOTEBOOKS]


def test_every_chapter_has_its_notebook() -> None:
    assert [chapter for chapters in NOTEBOOKS.values() for chapter in chapters] == list(CHAPTERS)
    assert len(NOTEBOOKS) == 10


@pytest.mark.parametrize(("name", "lang"), ALL)
def test_a_notebook_is_what_the_lessons_give(name: str, lang: str) -> None:
    kept = json.loads((FOLDER / lang / f"{name}.ipynb").read_text(encoding="utf-8"))
    assert kept == notebook(name, lang), "run `make tables`"
    nbformat.validate(kept)


# What was recorded is shown, fresh or stale: a stale result would be measured again, which takes minutes a lesson.
AS_RECORDED = "from glassformer.lessons.shelf import LessonResults; LessonResults.stale = lambda self, name: False"


@pytest.mark.slow
@pytest.mark.parametrize(("name", "lang"), ALL)
def test_a_notebook_runs(name: str, lang: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From top to bottom in a kernel of its own, with results in a cache of its own."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.chdir(tmp_path)
    cells: Any = nbformat.reads(json.dumps(notebook(name, lang)), as_version=4)
    for cell in cells.cells:
        if "fresh=True" in cell.source:  # measured again by the tests of the lessons
            cell.source = ""
    cells.cells.insert(0, nbformat.v4.new_code_cell(AS_RECORDED))
    NotebookClient(cells, timeout=300, kernel_name="python3").execute()
    shown = [out for cell in cells.cells if cell.cell_type == "code" for out in cell.outputs]
    assert sum("text/html" in out.get("data", {}) for out in shown) == sum(
        len(CHAPTERS[chapter]) for chapter in NOTEBOOKS[name]
    )
