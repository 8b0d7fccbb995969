"""The text of a recipe: its own file, or with every key left at its default added and explained."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from glassformer.config.options import Schema
from glassformer.config.recipe import TABLES, left_out
from glassformer.config.toml import read_toml, to_toml
from glassformer.config.values import Choice, plain
from glassformer.errors import ConfigError, suggest
from glassformer.loading.config import open_recipe, recipes
from glassformer.show import Column, Table
from glassformer.words import say


def recipe_file(name: str) -> Path:
    """The file of a recipe of the package."""
    known = recipes()
    if name not in known:
        raise ConfigError("no_recipe", recipe=name, hint=suggest(name, known))
    return known[name]


def written_in_full(name: str, lang: str | None = None, options: Mapping[str, Schema] = MappingProxyType({})) -> str:
    """The recipe, and below each table the keys that it does not set, as comments: default, meaning.

    As a file it is the same recipe; to change a default, remove the #. `options`: those of each choice, by its name,
    "data.source". The ones not set are listed as in config.toml; they are set inside the braces of the choice.
    """
    path = recipe_file(name)
    given, config = read_toml(path), open_recipe(name)
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    text = ["\n".join(lines), "", to_toml({"run": given.get("run", {})}).rstrip("\n")]
    text += [*left_out("task", config.task, options.get("run.task", {})), ""]
    for table, kind in TABLES.items():
        known = {key: getattr(getattr(config, table), key) for key in kind.schema()}
        unset = [key for key in known if key not in given.get(table, {})]
        text += [to_toml({table: given.get(table, {})}).rstrip("\n")]
        text += [f"# {_line(key, known[key])}{_meaning(table, key, lang)}" for key in unset]
        for key, value in known.items():
            if isinstance(value, Choice):
                text += left_out(key, value, options.get(f"{table}.{key}", {}))
        text += [""]
    return "\n".join(text)


def _line(key: str, value: Any) -> str:
    """`clip = 1.0`; a key without a value is left empty."""
    if value is None:
        return f"{key} ="
    return to_toml({"x": {key: plain(value)}}).splitlines()[1]


def _meaning(table: str, key: str, lang: str | None) -> str:
    """The meaning of a key; "" for [model], whose keys docs/en/boxes.md explains."""
    return "" if table == "model" else f"  # {say(f'keys.{table}.{key}', lang)}"


def key_table(lang: str, table: str) -> str:
    """The keys of a table as Markdown: key, meaning, default. The guide contains it, and a test compares them."""
    shown = Table(*(Column(say(f"recipes.{key}", lang)) for key in ("key", "meaning", "default")))
    for key, each in TABLES[table].schema().items():
        default = "–" if each.default is None else f"`{_line(key, each.default).partition(' = ')[2]}`"
        shown.add(f"`{key}`", say(f"keys.{table}.{key}", lang), default)
    return shown.to_markdown()
