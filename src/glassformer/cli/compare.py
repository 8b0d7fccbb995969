"""`glassformer compare A B [TEXT …]`: two models on the same inputs, and the first tap where they differ."""

from __future__ import annotations

from typing import Annotated

import typer

from glassformer.cli.options import Debug, Json, Lang
from glassformer.cli.output import print_found
from glassformer.words import say


def command(
    a: Annotated[str, typer.Argument(help=say("help.compare_a"), metavar="A", show_default=False)],
    b: Annotated[str, typer.Argument(help=say("help.compare_b"), metavar="B", show_default=False)],
    texts: Annotated[
        list[str] | None, typer.Argument(help=say("help.compare_texts"), metavar="TEXT", show_default=False)
    ] = None,
    tolerance: Annotated[
        float | None, typer.Option("--tolerance", help=say("help.tolerance"), show_default=False)
    ] = None,
    transformers: Annotated[bool, typer.Option("--transformers", help=say("help.transformers"))] = False,
    json: Json = False,
    lang: Lang = None,
    debug: Debug = False,
) -> None:
    from glassformer.comparison.compare import compare

    found = compare(a, b, texts or None, tolerance=tolerance, transformers=transformers)
    print_found(found, json=json)
