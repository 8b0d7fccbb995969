"""What a result depends on, in sixteen letters: the code that measured it, the recipes it trained, the built-in corpus.

Comments, docstrings, drawings and sentences are left out: they cannot change a number. Verdicts neither: they are
computed anew from the recorded data whenever they are read. Versions of Python and torch stand in the result itself.
"""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
# what only speaks, draws or judges, or decides where files go
WITHOUT = (
    *("words", "errors", "fonts", "formula", "places", "provenance", "hub"),
    *("lessons.theme", "lessons.drawing", "lessons.svg", "lessons.finish", "lessons.hover", "lessons.texts"),
    *("lessons.fingerprint", "lessons.trained", "lessons.desk", "lessons.lesson", "lessons.verdict"),
    *(
        "training.pictures",
        "training.panels",
        "training.board",
        "training.status",
        "training.watch",
        "training.events",
        "training.forecast_picture",
    ),
)
JUDGES = "verdict"  # functions of lessons whose names begin so judge, they do not measure
TRAINING = "training.begin"


def fingerprint(module: str, models: tuple[str, ...] = ()) -> str:
    """Of a module of the package ("lessons.attention.scaled_scores") with all that it imports and reads.

    `models` are recipes whose trained models it looks into: then all that trains them counts too.
    """
    modules = closure(module) | (closure(TRAINING) if models else set())
    digest = hashlib.sha256()
    for name in sorted(modules):
        digest.update(f"{name}\n{code(name)}\n".encode())
    for path in sorted(_files(modules, models)):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _files(modules: set[str], models: tuple[str, ...]) -> set[Path]:
    """Recipes that the models come from or that a lesson names in a string; the lexicon, where the corpus is used."""
    recipes = {path.stem: path for path in (ROOT / "recipes").glob("*.toml")}
    named = {text for name in modules if name.startswith("lessons") for text in strings(name)}
    found = {path for name, path in recipes.items() if name in named or name in models}
    lexicon = (ROOT / "data" / "grammar" / "lexicon").glob("*.toml")
    return found | (set(lexicon) if "data.grammar" in modules else set())


@cache
def strings(module: str) -> frozenset[str]:
    """Every string constant of a module."""
    constants = (node.value for node in ast.walk(_tree(module)) if isinstance(node, ast.Constant))
    return frozenset(value for value in constants if isinstance(value, str))


def closure(module: str) -> set[str]:
    """The module and every module of the package that it imports, wherever the import stands."""
    found: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += imports(name)
    return found


@cache
def imports(module: str) -> tuple[str, ...]:
    """What a module imports of the package, but for what only speaks or draws."""
    names: set[str] = set()
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("glassformer"):
            of = (node.module or "").removeprefix("glassformer").lstrip(".")
            inner = [f"{of}.{alias.name}".lstrip(".") for alias in node.names]
            names |= {name if _path(name) else of for name in inner if _path(name) or of}
    return tuple(sorted(name for name in names if not _left_out(name)))


def _left_out(name: str) -> bool:
    return name.endswith("_picture") or any(name == left or name.startswith(f"{left}.") for left in WITHOUT)


@cache
def code(module: str) -> str:
    """The lines of a module that can change a number."""
    lines = _text(module).splitlines()
    for node in ast.walk(_tree(module)):
        if (
            isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and ast.get_docstring(node, clean=False) is not None
        ):
            _blank(lines, node.body[0].lineno, node.body[0].end_lineno)
        judges = isinstance(node, ast.FunctionDef) and module.startswith("lesson") and _judges(node.name)
        idle = isinstance(node, ast.ImportFrom) and _left_out((node.module or "").removeprefix("glassformer."))
        if isinstance(node, ast.FunctionDef | ast.ImportFrom) and (judges or idle):
            _blank(lines, node.lineno, node.end_lineno)
    kept = (line.split("  # ")[0].rstrip() for line in lines)
    return "\n".join(line for line in kept if line.strip() and not line.lstrip().startswith("#"))


def _judges(name: str) -> bool:
    return name.lstrip("_").startswith(JUDGES)


def _blank(lines: list[str], first: int, last: int | None) -> None:
    for number in range(first - 1, last or first):
        lines[number] = ""


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(_text(module))


def _text(module: str) -> str:
    path = _path(module)
    return "" if path is None else path.read_text(encoding="utf-8")


def _path(module: str) -> Path | None:
    """The file of a module or package; None where the name is neither."""
    place = ROOT.joinpath(*module.split("."))
    files = (place.with_suffix(".py"), place / "__init__.py")
    return next((file for file in files if module and file.is_file()), None)
