"""A hash of what a result depends on: the code that measured it, the recipes it trained, the built-in corpus.

In a lesson only `run` and what it uses count: drawings and sentences cannot change a number, and verdicts are computed
from the recorded data whenever they are read. Comments and docstrings never count, nor what a CPU does not run. The
versions of Python and torch are in the result itself.
"""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from pathlib import Path
from typing import TypeGuard

PACKAGE = Path(__file__).parents[1]
# modules that only print, draw or judge, or decide where files go
WITHOUT = (
    *("words", "errors", "fonts", "formula", "places", "provenance", "hub", "show", "lessons.texts"),
    *("lessons.fingerprint", "lessons.trained_models", "lessons.setup", "lessons.lesson", "lessons.verdict"),
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
# what only accelerators and compilers run: the models of lessons are trained and asked on a CPU, uncompiled
ELSEWHERE = (
    "kernels.best_of_row",
    "kernels.few_queries",
    "kernels.gelu",
    "kernels.layer_norm",
    "kernels.layer_norm_operator",
    "kernels.linear_cross_entropy",
    "kernels.relu",
    "kernels.short_texts",
    "kernels.short_texts_operator",
    "kernels.shown_weights",
    "training.capture",
    "training.compile",
    "training.device_use",
    "training.room",
)
MEASURES = "run"  # of a lesson; what neither it nor another module uses only draws or judges
TRAINING = ("training.begin", "training.loop")  # what a run begins with, and what goes on then
ABOUT = ("card.json", "seen.json")  # files of a trained model that tell of it; nothing is computed with them
LEARNS = ("task", "samples")  # of the folder of a task: its other modules use, judge or show what has been learned


def fingerprint(module: str, runs: tuple[str, ...] = (), seeds: int = 0, models: tuple[str, ...] = ()) -> str:
    """The hash of a module ("lessons.attention.scaled_scores") with all that it imports and reads.

    `runs`: recipes that it trains; the training code then counts too. `models`: trained models that it looks at; of
    those that come with the package the files count, and the others are trained. `seeds`: how many the lesson has.
    """
    shipped = {name: files for name in models if (files := _shipped(name))}
    recipes = (*runs, *(name for name in models if name not in shipped))
    modules = closure(module) | (trained_by() if recipes else set())
    digest = hashlib.sha256(f"{seeds} seeds\n".encode())
    for name in sorted(modules):
        digest.update(f"{name}\n{code(name)}\n".encode())
    for path in [*sorted(_files(modules, recipes)), *(path for files in shipped.values() for path in files)]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _shipped(model: str) -> list[Path]:
    """The files of a trained model of the package that can change a number."""
    files = (path for path in (PACKAGE / "trained" / model).rglob("*") if path.is_file())
    return sorted(path for path in files if path.name not in ABOUT)


def trained_by() -> set[str]:
    """All modules that a training goes through."""
    return {name for module in TRAINING for name in closure(module)}


def _files(modules: set[str], trained: tuple[str, ...]) -> set[Path]:
    """The recipes that are trained, or named in a string of a lesson; the lexicon, if the corpus is used."""
    recipes = {path.stem: path for path in (PACKAGE / "recipes").glob("*.toml")}
    named = {text for name in modules if name.startswith("lessons") for text in strings(name)}
    found = {path for name, path in recipes.items() if name in named or name in trained}
    lexicon = (PACKAGE / "data" / "grammar" / "lexicon").glob("*.toml")
    return found | (set(lexicon) if "data.grammar" in modules else set())


@cache
def strings(module: str) -> frozenset[str]:
    """Every string constant in a module."""
    constants = (node.value for node in ast.walk(_tree(module)) if isinstance(node, ast.Constant))
    return frozenset(value for value in constants if isinstance(value, str))


def closure(module: str) -> set[str]:
    """The module and all modules of the package that it imports, directly or indirectly."""
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
    """What a module imports from the package, except what only prints or draws."""
    idle = {id(node) for node in _idle(module)}
    names: set[str] = set()
    for top in _tree(module).body:
        if id(top) not in idle:
            for node in ast.walk(top):
                names |= _imported(node)
    followed = {one for name in names for one in _learning(name)}
    return tuple(sorted(name for name in followed if not _left_out(name)))


def _learning(name: str) -> set[str]:
    """The module itself; of the line that a task has in `TASKS`, only what a training goes through.

    That line names the evaluation and the pages of its task too, and every training knows every line: the title of a
    column would make all trained results stale. A lesson that evaluates imports the evaluation of its task itself.
    """
    folder, _, last = name.rpartition(".")
    if last != "kind" or not name.startswith("tasks."):
        return {name}
    return {module for module in (f"{folder}.{part}" for part in LEARNS) if _path(module)}


def _imported(node: ast.AST) -> set[str]:
    """The modules of the package that a statement imports."""
    if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("glassformer"):
        return set()
    of = (node.module or "").removeprefix("glassformer").lstrip(".")
    inner = [f"{of}.{alias.name}".lstrip(".") for alias in node.names]
    return {name if _path(name) else of for name in inner if _path(name) or of}


@cache
def _idle(module: str) -> tuple[ast.stmt, ...]:
    """Definitions of a lesson that measure nothing, and imports that only they need. Other modules have none."""
    tree = _tree(module)
    defined = {name: node for node in tree.body for name in _names(node)}
    if not module.startswith("lessons.") or "LESSON" not in defined:
        return ()
    used, waiting = set[str](), [MEASURES, *_taken(module)]
    while waiting:
        name = waiting.pop()
        if name not in used:
            used.add(name)
            node = defined.get(name)
            waiting += [] if node is None else [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
    return tuple(node for node in tree.body if (names := _names(node)) and not used & set(names))


def _names(node: ast.stmt) -> list[str]:
    """The names that a top-level statement defines."""
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            return [alias.asname or alias.name for alias in aliases]
        case ast.Assign(targets=targets):
            return [each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
    return []


def _taken(module: str) -> frozenset[str]:
    """What other lessons import from a lesson."""
    return _shared().get(f"glassformer.{module}", frozenset())


@cache
def _shared() -> dict[str, frozenset[str]]:
    """Every module that a lesson imports from, and the imported names; each lesson is read once."""
    found: dict[str, frozenset[str]] = {}
    for path in (PACKAGE / "lessons").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                names = {alias.name for alias in node.names} - {"LESSON"}
                found[node.module] = found.get(node.module, frozenset()) | names
    return found


def _left_out(name: str) -> bool:
    left_out = (*WITHOUT, *ELSEWHERE)
    return name.endswith("_picture") or any(name == left or name.startswith(f"{left}.") for left in left_out)


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
        elif (isinstance(node, ast.ImportFrom) and _says_nothing(node.module or "")) or _is_for_types(node):
            _blank(lines, node.lineno, node.end_lineno)
    for node in _idle(module):
        _blank(lines, node.lineno, node.end_lineno)
    kept = (line.split("  # ")[0].rstrip() for line in lines)
    return "\n".join(line for line in kept if line.strip() and not line.lstrip().startswith("#"))


def _says_nothing(module: str) -> bool:
    """Whether importing this module cannot change a number."""
    return module in ("__future__", "typing", "collections.abc") or _left_out(module.removeprefix("glassformer."))


def _is_for_types(node: ast.AST) -> TypeGuard[ast.If]:
    """Whether it is `if TYPE_CHECKING:`."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


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
    """The file of a module or package; None if there is none."""
    place = PACKAGE.joinpath(*module.split("."))
    files = (place.with_suffix(".py"), place / "__init__.py")
    return next((file for file in files if module and file.is_file()), None)
