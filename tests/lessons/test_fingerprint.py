from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from glassformer.lessons import fingerprint as module
from glassformer.lessons.fingerprint import closure, code, fingerprint

MEASURES = '''"""A lesson."""
from glassformer.part import factor


def run():
    """Measure."""
    return 2 * factor()  # twice


def verdicts(data):
    return data > 1
'''


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A small package in the place of ours."""
    monkeypatch.setattr(module, "ROOT", tmp_path)
    (tmp_path / "lesson.py").write_text(MEASURES)
    (tmp_path / "part.py").write_text("def factor():\n    return 3\n")
    (tmp_path / "recipes").mkdir()
    (tmp_path / "recipes" / "one.toml").write_text("steps = 1\n")
    _forget()
    yield tmp_path
    _forget()


def _forget() -> None:
    for known in (module.imports, module.code, module._tree):
        known.cache_clear()


def changed(package: Path, file: str, old: str, new: str, recipes: tuple[str, ...] = ()) -> bool:
    """Whether the fingerprint is another one after an edit."""
    before = fingerprint("lesson", recipes)
    path = package / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    _forget()
    return fingerprint("lesson", recipes) != before


def test_code_that_measures_changes_it(package: Path) -> None:
    assert changed(package, "lesson.py", "2 * factor", "4 * factor")
    assert changed(package, "part.py", "return 3", "return 5")


@pytest.mark.parametrize(
    ("old", "new"), [("# twice", "# two times"), ("Measure.", "Look."), ("data > 1", "data > 7"), ("A lesson.", "One.")]
)
def test_comments_docstrings_and_rules_do_not(package: Path, old: str, new: str) -> None:
    assert not changed(package, "lesson.py", old, new)


def test_a_recipe_that_it_trains_changes_it(package: Path) -> None:
    assert not changed(package, "recipes/one.toml", "steps = 1", "steps = 2")
    assert changed(package, "recipes/one.toml", "steps = 2", "steps = 3", ("one",))


def test_what_only_speaks_or_draws_is_left_out() -> None:
    found = closure("lessons.attention.scaled_scores")
    assert "layers.attention.kernel" in found
    assert not {name for name in found if name.endswith("_picture") or name.startswith(("words", "lessons.theme"))}
    assert "verdict" not in code("lessons.attention.scaled_scores").split("LESSON")[0].replace("Verdict", "")
