from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from glassformer.bench.record import documents
from glassformer.textbook.tables import render

ROOT = Path(__file__).parents[2]
DOCUMENTS = documents(ROOT)
PYTHON = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"^(#+) ", re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#]+)")


def _name(value: Any) -> str:
    return str(value.relative_to(ROOT)) if isinstance(value, Path) else str(value)


def prose(path: Path) -> str:
    """The document without its code blocks."""
    return re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize(("path", "lang"), DOCUMENTS, ids=_name)
def test_tables_are_those_of_the_recorded_results(path: Path, lang: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert render(text, lang) == text, "run `make tables`"


@pytest.mark.many
@pytest.mark.parametrize("path", [path for path, _ in DOCUMENTS if PYTHON.search(path.read_text())], ids=_name)
def test_python_blocks_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    space: dict[str, Any] = {}
    for block in PYTHON.findall(path.read_text(encoding="utf-8")):
        exec(compile(block, str(path), "exec"), space)


@pytest.mark.parametrize("path", [path for path, _ in DOCUMENTS], ids=_name)
def test_links_lead_somewhere(path: Path) -> None:
    for target in LINK.findall(prose(path)):
        assert (path.parent / target).exists(), target


def pairs() -> list[tuple[Path, Path]]:
    english = sorted((ROOT / "docs" / "en").rglob("*.md"))
    mirrored = [(path, ROOT / "docs" / "ko" / path.relative_to(ROOT / "docs" / "en")) for path in english]
    return [(ROOT / "README.md", ROOT / "README.ko.md"), *mirrored]


def test_both_languages_have_the_same_documents() -> None:
    korean = sorted((ROOT / "docs" / "ko").rglob("*.md"))
    assert [ko for _, ko in pairs()[1:]] == korean


@pytest.mark.parametrize(("english", "korean"), pairs(), ids=_name)
def test_both_languages_have_the_same_structure(english: Path, korean: Path) -> None:
    assert HEADING.findall(prose(english)) == HEADING.findall(prose(korean))
    blocks = [re.findall(r"^```\w*", path.read_text(encoding="utf-8"), re.MULTILINE) for path in (english, korean)]
    assert blocks[0] == blocks[1]
    hangul = re.search(r"[가-힣]", prose(korean))
    assert hangul


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "adr").glob("*.md")), ids=_name)
def test_a_decision_fits_on_a_page(path: Path) -> None:
    written = re.sub(
        r"(<!-- table: .*?-->).*?(<!-- end -->)", r"\1\2", path.read_text(encoding="utf-8"), flags=re.DOTALL
    )
    assert len(written.splitlines()) <= 60


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=_name)
def test_examples_run(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(path))
    assert capsys.readouterr().out
