"""`glassformer claims [ID …]`: claims about Transformers, each with its verdict and what was measured."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from glassformer.cli.options import Debug, Json, Lang
from glassformer.cli.output import print_json, print_rich
from glassformer.errors import UsageError
from glassformer.words import say

MOST_WORKERS = 256


def command(
    ids: Annotated[
        list[str] | None, typer.Argument(help=say("help.claim_ids"), metavar="[ID]...", show_default=False)
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help=say("help.claims_fresh"))] = False,
    workers: Annotated[int | None, typer.Option("--workers", help=say("help.workers"), show_default=False)] = None,
    record: Annotated[Path | None, typer.Option("--record", help=say("help.claims_record"), hidden=True)] = None,
    json: Json = False,
    lang: Lang = None,
    debug: Debug = False,
) -> int:
    if workers is not None and not 1 <= workers <= MOST_WORKERS:
        raise UsageError("out_of_range", key="--workers", value=workers, low=1, high=MOST_WORKERS)
    from glassformer.cli.measuring import Bars
    from glassformer.lessons.claims import measured_claims

    audience = Bars(quiet=json)
    found, failed = measured_claims(ids or [], fresh=fresh, folder=record, workers=workers, audience=audience)
    if json:
        print_json([answer.to_json() for answer in found])
    elif found:
        print_rich(*found.shown().parts)
    return 1 if failed else 0
