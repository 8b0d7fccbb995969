"""`glassformer translate MODEL [TEXT …]`: arguments, or standard input line by line."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from glassformer.cli.options import Debug, Json, Lang
from glassformer.cli.output import print_json
from glassformer.words import say


def command(
    model: Annotated[str, typer.Argument(help=say("help.trained"), metavar="MODEL", show_default=False)],
    texts: Annotated[
        list[str] | None, typer.Argument(help=say("help.texts"), metavar="TEXT", show_default=False)
    ] = None,
    beam: Annotated[int, typer.Option("--beam", help=say("help.beam"))] = 4,
    length_penalty: Annotated[float, typer.Option("--length-penalty", help=say("help.length_penalty"))] = 0.6,
    length_norm: Annotated[str, typer.Option("--length-norm", help=say("help.length_norm"))] = "gnmt",
    stop: Annotated[str, typer.Option("--stop", help=say("help.stop"))] = "bound",
    nbest: Annotated[int, typer.Option("--nbest", help=say("help.nbest"))] = 1,
    json: Json = False,
    lang: Lang = None,
    debug: Debug = False,
) -> None:
    from glassformer.evaluate.translate import Search, candidates
    from glassformer.open import load

    loaded = load(model)
    search = Search(beam=beam, alpha=length_penalty, length_norm=length_norm, stop=stop, n_best=nbest)
    lines = texts if texts else [line.rstrip("\n") for line in sys.stdin]
    found = candidates(loaded.model, loaded.vocabularies, lines, search)
    if json:
        print_json(
            [
                {"source": line, "translations": [vars(one) for one in some]}
                for line, some in zip(lines, found, strict=True)
            ]
        )
        return
    for some in found:
        for one in some:
            print(one.text if nbest == 1 else f"{one.score:.4f}\t{one.text}")
