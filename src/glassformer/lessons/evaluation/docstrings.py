"""English that is at hand wherever this runs: what the authors of Python's standard library wrote into it."""

from __future__ import annotations

import ast
import sysconfig
from functools import cache
from pathlib import Path

WITHOUT = {"site-packages", "dist-packages", "test", "tests", "idlelib", "lib2to3", "__pycache__"}
EVERY = 10  # one module in so many is kept apart


def docstrings(part: str) -> list[str]:
    """ "train" or "validation": by module, in the order of names; what stands in two places is in the first alone.

    Another version of Python has other texts, and another number comes out.
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
