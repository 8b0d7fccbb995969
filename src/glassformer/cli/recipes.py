"""`glassformer recipes [list|show NAME|copy NAME FILE]`: list the recipes, show one, or copy one to change it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from glassformer.cli.options import Debug, Force, Json, Lang
from glassformer.cli.output import print_json, print_rich
from glassformer.errors import Phrase, UsageError
from glassformer.words import language, say

Action = Annotated[str, typer.Argument(help=say("help.recipes_action"), metavar="ACTION")]
Name = Annotated[str, typer.Argument(help=say("help.recipes_name"), metavar="NAME", show_default=False)]
File = Annotated[Path | None, typer.Argument(help=say("help.recipes_file"), metavar="FILE", show_default=False)]
Full = Annotated[bool, typer.Option("--full", help=say("help.recipes_full"))]


def command(
    action: Action = "list",
    name: Name = "",
    file: File = None,
    full: Full = False,
    force: Force = False,
    json: Json = False,
    lang: Lang = None,
    debug: Debug = False,
) -> None:
    match action:
        case "list" if name:
            raise UsageError("usage_extra", command="recipes list", given=name, expected="glassformer recipes list")
        case "list":
            _list(json)
        case "show" if file is not None:
            raise UsageError(
                "usage_extra", command="recipes show", given=file, expected=f"glassformer recipes show {name}"
            )
        case "show" if name:
            _show(name, full, json)
        case "copy" if name and file is not None:
            _copy(name, file, full, force, json)
        case "show" | "copy":
            missing = "NAME" if not name else "FILE"
            raise UsageError("usage_missing", name=missing, command=f"recipes {action}")
        case _:
            raise UsageError("recipes_action", action=action, known="list, show, copy")


def _list(json: bool) -> None:
    from glassformer.bench.recipes import known
    from glassformer.ledger.show_plan import duration
    from glassformer.show import Column, Table

    rows = known()
    if json:
        print_json([row.to_json() for row in rows])
        return
    table = Table(
        Column(say("recipes.name"), "name"),
        Column(say("recipes.task")),
        Column(say("recipes.needs")),
        Column(say("recipes.time"), "text", drop=1),
    )
    for row in rows:
        needs = row.needs.say(language()) if isinstance(row.needs, Phrase) else say("recipes.nothing")
        where = row.accelerator or say("recipes.cores", cores=row.cores)
        time = "–" if row.seconds is None else f"{duration(row.seconds, None)} ({where})"
        table.add(row.name, say(f"data.tasks.{row.task}"), needs, time)
    print_rich(table, say("recipes.hint"))


def _show(name: str, full: bool, json: bool) -> None:
    from glassformer.loading import open_recipe

    if json:
        print_json(open_recipe(_known(name)).to_dict())
    else:
        print(_text(name, full), end="")


def _copy(name: str, file: Path, full: bool, force: bool, json: bool) -> None:
    from glassformer.files import write_text
    from glassformer.loading.recipe_text import recipe_file
    from glassformer.runs.output import claim

    text = _text(name, full)
    if file.suffix != ".toml":
        raise UsageError("recipes_toml", path=file)
    claim(file, force=force, inputs=[recipe_file(name)])
    write_text(file, text)
    if json:
        print_json({"recipe": name, "file": str(file)})
    else:
        print(say("recipes.copied", path=file, command=shlex.join(["glassformer", "train", str(file)])))


def _known(name: str) -> str:
    from glassformer.loading.recipe_text import recipe_file

    recipe_file(name)
    return name


def _text(name: str, full: bool) -> str:
    from glassformer.loading.recipe_text import recipe_file, written_in_full

    path = recipe_file(name)
    if not full:
        return path.read_text(encoding="utf-8")
    from glassformer.loading import open_recipe
    from glassformer.tasks.schemas import schemas

    return written_in_full(name, options=schemas(open_recipe(name)))
