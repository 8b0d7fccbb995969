"""`glassformer explore [MODEL …]`: the web explorer on this machine."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from glassformer.cli.options import Debug, Lang
from glassformer.cli.output import print_rich
from glassformer.words import say


def command(
    models: Annotated[
        list[str] | None, typer.Argument(help=say("help.explore_models"), metavar="MODEL", show_default=False)
    ] = None,
    port: Annotated[int | None, typer.Option("--port", help=say("help.explore_port"), show_default=False)] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help=say("help.explore_no_browser"))] = False,
    lang: Lang = None,
    debug: Debug = False,
) -> None:
    from glassformer.explorer.serve import serve

    def announce(url: str) -> None:
        print_rich(say("explore.at", url=url))
        sys.stdout.flush()  # whoever reads it through a pipe is told now, not at the end

    serve(models or [], port=port, browser=not no_browser, announce=announce)
    print_rich(say("explore.ended"))
    sys.stdout.flush()
    os._exit(0)  # a pass that still computes in a thread would hold the process back
