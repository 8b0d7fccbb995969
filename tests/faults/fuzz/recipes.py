"""Recipes with something wrong in one of their tables: opened, and tried without a step."""

from functools import partial
from pathlib import Path
from random import Random

import glassformer as gf
from faults.fuzz.files import damaged, toml
from faults.fuzz.values import all_recipes, changed, likely, python_value, small_value, value_of, word
from faults.fuzz.world import HERE, Case, world
from glassformer.config.recipe import TABLES
from glassformer.loading import open_recipe, recipes
from tiny_tasks import TINY


def recipe_files(chance: Random) -> Case:
    how = chance.choice([*["package", "package", "damaged", "set"] * 3, "dry-run"])
    if how == "set":
        table = chance.choice(["run", *TABLES, word(chance)])
        key = chance.choice([*likely(), word(chance)])
        changes = {f"{table}.{key}": value_of(chance, key, python_value)}
        return Case({}, partial(open_recipe, chance.choice(list(recipes())), changes))
    if how == "dry-run":  # the data is really read: nothing large is asked for
        whole = chance.choice(list(TINY.values()))
        table = changed(chance, {name: table for name, table in whole.items() if name != "data"}, small_value)
        table["data"] = whole["data"]
        return Case({"given.toml": toml(table)}, ("train", f"{HERE}/given.toml", "--dry-run", "--json"))
    table = chance.choice(all_recipes())
    for _ in range(chance.randint(1, 2)):
        table = changed(chance, table)
    content = toml(table)
    if how == "damaged":
        content = damaged(chance, content)
    return Case({"given.toml": content}, partial(_recipe_and_model, world().here / "given.toml"))


def _recipe_and_model(path: Path) -> None:
    gf.check(open_recipe(path).model)
