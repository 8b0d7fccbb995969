"""A user's own file or folder instead of a recipe: the default recipe of its task, with the file filled in."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from glassformer.config.recipe import RunConfig
from glassformer.config.values import path_of
from glassformer.data.own import TABLE_SUFFIXES, is_own, possible_tasks
from glassformer.errors import FileError, InputError, Phrase, choose
from glassformer.loading import open_recipe, recipes
from glassformer.tasks import TASKS, kind_of
from glassformer.tasks.own_files import OwnFiles

LEAST = 10  # examples: with fewer there is nothing to learn from or to validate with
MOST_APART = 300
NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Own:
    """The recipe chosen for the data, and the keys set in it."""

    path: str
    task: str
    recipe: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def command(self) -> str:
        """The command in full, to be repeated or changed."""
        keys = [f"--set {shlex.quote(f'{key}={value}')}" for key, value in self.settings.items()]
        return " ".join(["glassformer train", self.recipe, *keys])


def own_files() -> dict[str, OwnFiles]:
    """The tasks that take files of your own."""
    return {name: kind.own for name, kind in TASKS.items() if kind.own is not None}


def open_recipe_or_data(recipe: str | Path, overrides: Mapping[str, Any] = NOTHING) -> RunConfig:
    """See `open_recipe`; or the default recipe of its task for your own data, where `run.task` names the task."""
    recipe, changes = path_of("recipe", recipe), dict(overrides)
    if str(recipe) not in recipes() and (own := own_recipe(recipe, str(changes.get("run.task", "")), known=changes)):
        changes.pop("run.task", None)
        return open_recipe(own.recipe, {**own.settings, **changes})
    return open_recipe(recipe, changes)


def own_recipe(path: str | Path, task: str = "", *, known: Mapping[str, Any] = NOTHING) -> Own | None:
    """The recipe for a file or folder of data; None for anything else. `known`: keys that are set already.

    A tenth of the examples, at most 300, is held out for validation.
    """
    place = Path(path)
    if not is_own(place):
        if place.suffix in (*TABLE_SUFFIXES, ".jsonl", ".parquet", ".txt") and not place.exists():
            raise FileError("data_no_file", path=path)
        return None
    chosen = task or _only_task(place)
    files = choose("task", chosen, own_files())
    settings: dict[str, Any] = {"run.name": re.sub(r"[^\w-]+", "-", place.name.split(".")[0]).strip("-") or "own"}
    settings[f"data.source.{files.options[0]}"] = str(path)
    layout_keys = {"data.source.columns", "data.source.header", "data.source.delimiter", "data.validation"} & set(known)
    if files.count is not None and not layout_keys:
        count, apart = files.count(place)
        settings["data.validation"] = min(MOST_APART, max(apart, _enough(place, count, chosen) // 10))
    return Own(str(path), chosen, files.recipe, settings | files.fit(place, known))


def own_file_lines(config: RunConfig) -> Iterator[Phrase]:
    """A line for each of your own files in a recipe; none for the built-in corpora and the catalogue."""
    source, files = config.data.source, kind_of(config).own
    if files is None or source.kind != files.source:
        return
    for option in files.options:
        given = source.options.get(option)
        for path in [given] if isinstance(given, str) else given or ():
            yield files.describe(str(path), source.options)


def _only_task(path: Path) -> str:
    found = possible_tasks(path)
    if len(found) == 1:
        return found[0]
    one, other = (f"glassformer train {shlex.quote(str(path))} --task {task}" for task in found)
    what_one, what_other = map(_what, found)
    raise InputError("own_two_things", path=path, one=one, other=other, what_one=what_one, what_other=what_other)


def _what(task: str) -> Phrase:
    return Phrase(f"own.what.{task}")


def _enough(path: Path, count: int, task: str) -> int:
    if count < LEAST:
        raise InputError("own_too_few", path=path, count=count, least=LEAST, what=_what(task))
    return count
