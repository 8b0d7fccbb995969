from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from nbclient import NotebookClient
from traitlets.config import Config

from drawn_book import drawn
from glassformer.lessons.catalogue import CHAPTERS
from glassformer.lessons.lesson_results import LessonResults
from glassformer.lessons.view import LessonView
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


@pytest.fixture
def as_recorded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, own_cache: Path) -> None:
    """What was recorded is shown, fresh or stale: to measure a stale result again takes minutes a lesson.

    A picture is the one of the book; a kernel of its own draws all again.
    """
    monkeypatch.setattr(LessonResults, "stale", lambda self, name: False)
    monkeypatch.setattr(LessonView, "svg", lambda self: drawn(self.name, self.lang).svg)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.chdir(tmp_path)


def to_run(name: str, lang: str) -> Any:
    """The notebook without what the tests of the lessons measure again."""
    found: Any = nbformat.reads(json.dumps(notebook(name, lang)), as_version=4)
    for cell in found.cells:
        if "fresh=True" in cell.source:
            cell.source = ""
    return found


def lessons_of(name: str) -> int:
    return sum(len(CHAPTERS[chapter]) for chapter in NOTEBOOKS[name])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "lang"), ALL)
def test_a_notebook_runs(name: str, lang: str, as_recorded: None) -> None:
    """From top to bottom, with no name but its own."""
    shell = InteractiveShell.instance(user_ns={}, config=Config(HistoryManager={"enabled": False}))
    shown: list[dict[str, Any]] = []
    shell.displayhook.write_format_data = lambda data, metadata=None: shown.append(data)
    try:
        for cell in to_run(name, lang).cells:
            if cell.cell_type == "code":
                shell.run_cell(cell.source).raise_error()
    finally:
        InteractiveShell.clear_instance()
    assert sum("text/html" in data for data in shown) == lessons_of(name)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "lang"), [ALL[0], ("02-embedding", "ko")])
def test_a_notebook_runs_in_a_kernel_of_its_own(name: str, lang: str, as_recorded: None) -> None:
    cells = to_run(name, lang)
    stale = (
        "from glassformer.lessons.lesson_results import LessonResults; LessonResults.stale = lambda self, name: False"
    )
    cells.cells.insert(0, nbformat.v4.new_code_cell(stale))
    NotebookClient(cells, timeout=300, kernel_name="python3").execute()
    shown = [out for cell in cells.cells if cell.cell_type == "code" for out in cell.outputs]
    assert sum("text/html" in out.get("data", {}) for out in shown) == lessons_of(name)
