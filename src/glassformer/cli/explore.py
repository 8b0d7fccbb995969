"""`glassformer explore [MODEL …]`: the web explorer on this machine, or one page of it as a file."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from glassformer.cli.options import Debug, Force, Lang
from glassformer.cli.output import print_rich
from glassformer.errors import UsageError
from glassformer.words import say


def command(
    models: Annotated[
        list[str] | None, typer.Argument(help=say("help.explore_models"), metavar="MODEL", show_default=False)
    ] = None,
    port: Annotated[int | None, typer.Option("--port", help=say("help.explore_port"), show_default=False)] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help=say("help.explore_no_browser"))] = False,
    export: Annotated[
        Path | None,
        typer.Option("--export", help=say("help.explore_export"), metavar="FILE.html", show_default=False),
    ] = None,
    text: Annotated[str | None, typer.Option("--text", help=say("help.explore_text"), show_default=False)] = None,
    only_layers: Annotated[
        str | None, typer.Option("--only-layers", help=say("help.explore_only_layers"), show_default=False)
    ] = None,
    force: Force = False,
    lang: Lang = None,
    debug: Debug = False,
) -> None:
    if export is not None:
        _export(models or [], export, text, only_layers, force)
        return
    for key, given in {"--text": text, "--only-layers": only_layers}.items():
        if given is not None:
            raise UsageError("explorer_export_only", key=key)
    from glassformer.explorer.serve import serve

    def announce(url: str) -> None:
        print_rich(say("explore.at", url=url))
        sys.stdout.flush()  # whoever reads it through a pipe is told now, not at the end

    serve(models or [], port=port, browser=not no_browser, announce=announce)
    print_rich(say("explore.ended"))
    sys.stdout.flush()
    os._exit(0)  # a pass that still computes in a thread would hold the process back


def _export(models: list[str], path: Path, text: str | None, only_layers: str | None, force: bool) -> None:
    layers = None if only_layers is None else _layers(only_layers)
    from glassformer.explorer.save import save_page

    save_page(models, path, text=text, layers=layers, force=force)
    print_rich(say("explore.exported", path=path, size=f"{path.stat().st_size / 1e6:.1f}"))


def _layers(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdecimal() and len(part) < 10 for part in parts):
        raise UsageError("explorer_only_layers", value=text)
    return [int(part) for part in parts]
