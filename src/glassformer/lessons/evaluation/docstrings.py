"""English text that is always available: the docstrings of Python's standard library."""

from __future__ import annotations

import ast
import sysconfig
from functools import cache
from pathlib import Path

WITHOUT = {"site-packages", "dist-packages", "test", "tests", "idlelib", "lib2to3", "__pycache__"}
EVERY = 10  # one module in ten is held out for validation


def docstrings(part: str) -> list[str]:
    """The docstrings of "train" or "validation", by module in order of name; a duplicate is kept only once.

    Another version of Python has other docstrings and gives other numbers.
    """
    return _parts()[part]


@cache
def _parts() -> dict[str, list[str]]:
    root = Path(sysconfig.get_paths()["stdlib"])
    files = [path for path in sorted(root.rglob("*.py")) if WITHOUT.isdisjoint(path.relative_to(root).parts)]
    seen: set[str] = set()
    parts: dict[str, list[str]] = {"train": [], "validation": []}
    for number, path in enumerate(files):
        fresh = [text for text in dict.fromkeys(_of_file(path)) if text not in seen]
        seen.update(fresh)
        parts["validation" if number % EVERY == EVERY - 1 else "train"] += fresh
    return parts


def _of_file(path: Path) -> list[str]:
    tree = ast.parse(path.read_bytes())
    places = [node for node in ast.walk(tree) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)]
    return [text for place in places if (text := ast.get_docstring(place))]
