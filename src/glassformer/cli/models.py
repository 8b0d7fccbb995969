"""`glassformer models [NAME]`: the trained models of the package with their scores and sizes, or the card of one."""

from __future__ import annotations

from typing import Annotated

import typer

from glassformer.cli.options import Debug, Json, Lang
from glassformer.cli.output import print_found
from glassformer.words import say

Name = Annotated[str | None, typer.Argument(help=say("help.models_name"), metavar="NAME", show_default=False)]


def command(name: Name = None, json: Json = False, lang: Lang = None, debug: Debug = False) -> None:
    from glassformer.api import trained_models

    found = trained_models()
    print_found(found if name is None else found[name], json=json)
