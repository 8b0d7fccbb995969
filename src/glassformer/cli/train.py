"""`glassformer train RECIPE`: train, show how it goes, leave a run folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from glassformer.cli.options import Debug, Json, Lang, Set, overrides
from glassformer.cli.output import print_json
from glassformer.words import say

Recipe = Annotated[str, typer.Argument(help=say("help.recipe"), metavar="RECIPE", show_default=False)]
Out = Annotated[Path | None, typer.Option("--out", help=say("help.out"), show_default=False)]
Resume = Annotated[bool, typer.Option("--resume", help=say("help.resume"))]


def command(
    recipe: Recipe,
    out: Out = None,
    resume: Resume = False,
    set_: Set = None,
    json: Json = False,
    lang: Lang = None,
    debug: Debug = False,
) -> None:
    changes = overrides(set_)
    from glassformer.cli.progress import show
    from glassformer.open import open_recipe
    from glassformer.train.begin import again, begin
    from glassformer.train.loop import train

    config = open_recipe(recipe, changes)
    folder = out or Path("runs") / config.name
    resume = resume and (folder / "config.toml").is_file()
    job = again(folder) if resume else begin(config, folder)
    last = show(train(job, resume=resume), job, quiet=json)
    if json:
        print_json({"run": str(folder), **last})
