"""A public name means one thing: no folder has a verb's name, and every module can be imported under an alias."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

import glassformer as gf
from glassformer.kernels import TRITON

ALL = [found.name for found in pkgutil.walk_packages(gf.__path__, "glassformer.") if "__main__" not in found.name]
TRITON_KERNELS = (
    "best_of_row",
    "few_queries",
    "gelu",
    "layer_norm",
    "layer_norm_operator",
    "linear_cross_entropy",
    "short_texts",
    "short_texts_operator",
    "shown_weights",
)  # which CPUs do not have
IN_TRITON = {f"glassformer.kernels.{name}" for name in TRITON_KERNELS}


@pytest.mark.slow
def test_a_module_is_never_hidden_behind_a_function() -> None:
    lines = "\n".join(
        f"import {name} as m; assert m.__name__ == {name!r}, {name!r}"
        for name in ALL
        if TRITON or name not in IN_TRITON
    )
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


CAMEL = re.compile(r"[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*")


def aliases(tree: ast.Module) -> Iterator[str]:
    """`Column = int | str`: names in CamelCase that a module assigns."""
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        yield from (each.id for each in targets if isinstance(each, ast.Name) and CAMEL.fullmatch(each.id))


@pytest.mark.slow
def test_a_class_or_alias_is_given_its_name_once() -> None:
    """A student who has met `Batch` in one file must not meet another `Batch` in the next.

    Except in `cli`, where an alias is an option of a command and has the name of its keyword: `--batch` is `Batch`.
    """
    package = Path(gf.__path__[0])
    homes: dict[str, list[str]] = {}
    for path in sorted(package.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
        if path.parent != package / "cli":
            names += aliases(tree)
        for name in names:
            homes.setdefault(name, []).append(str(path))
    assert {name: files for name, files in homes.items() if len(files) > 1} == {}


def given(tree: ast.Module) -> Iterator[str]:
    """The functions and constants of a module that other modules may import."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (each.id for each in targets if isinstance(each, ast.Name) and each.id.isupper())


def sisters(homes: Iterable[str]) -> bool:
    """Files of one folder, or files of the same name in sister folders: the same idea for other things."""
    paths = [home.split(".") for home in homes]
    return len({(*path[:-2], path[-1]) for path in paths}) == 1 or len({tuple(path[:-1]) for path in paths}) == 1


def test_a_function_or_constant_that_others_import_has_one_meaning() -> None:
    """`from a import f` and `from b import f` are one `f` to a reader, so only sisters share a name.

    Public verbs are left out: behind `gf.count` stands the `count` that does the work.
    """
    package = Path(gf.__path__[0])
    homes: dict[str, set[str]] = {}
    imported: set[tuple[str, str]] = set()
    for path in package.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        module = ".".join(("glassformer", *path.relative_to(package).with_suffix("").parts)).removesuffix(".__init__")
        for name in given(tree):
            homes.setdefault(name, set()).add(module)
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                imported |= {(node.module, each.name) for each in node.names}
    public = {(f"glassformer.{home}", name) for name, home in gf._HOME.items()}
    public |= {(each.__module__, each.__name__) for each in vars(gf.tokenizers).values() if callable(each)}
    imported -= public
    met = {name: sorted(each for each in modules if (each, name) in imported) for name, modules in homes.items()}
    assert {name: modules for name, modules in met.items() if len(modules) > 1 and not sisters(modules)} == {}


def test_verbs_stay_verbs_whatever_was_imported() -> None:
    for name in ALL:
        if TRITON or name not in IN_TRITON:
            importlib.import_module(name)
    modules = {"losses", "masks", "metrics", "schedules", "tokenizers"}
    wrong = [name for name in gf.__all__ if isinstance(getattr(gf, name), ModuleType) != (name in modules)]
    assert wrong == []


def test_every_metric_is_the_thing_itself_and_no_module() -> None:
    names = gf.metrics.__all__
    assert {"accuracy", "bleu", "chrf", "calibration", "confusion", "f1", "perplexity", "mse", "wilson"} <= set(names)
    assert all(callable(getattr(gf.metrics, name)) for name in names)
    things = {name for name, each in vars(gf.metrics).items() if name[0] != "_" and not isinstance(each, ModuleType)}
    assert things == set(names)


@pytest.mark.parametrize(("old", "new"), sorted(gf._RENAMED.items()))
def test_a_renamed_name_works_for_one_release_with_a_warning(old: str, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"gf.{old} is now gf.{new}"):
        served = getattr(gf, old)
    assert served is getattr(gf, new)
    assert new in gf.__all__
    assert old not in gf.__all__


def test_a_name_that_never_was_is_no_renamed_one() -> None:
    with pytest.raises(AttributeError, match="NeverWas"):
        gf.NeverWas  # noqa: B018
