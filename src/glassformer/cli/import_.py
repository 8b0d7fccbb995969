"""`glassformer import DIR --out DIR`: a folder of Hugging Face becomes a run folder, which every command opens."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from glassformer.cli.bars import bar
from glassformer.cli.options import Debug, Force, Json, Lang
from glassformer.cli.output import print_json, print_rich
from glassformer.errors import UsageError
from glassformer.words import say

KEEP = "keep"
DTYPES = ("float32", "float16", "bfloat16")


def command(
    folder: Annotated[Path, typer.Argument(help=say("help.foreign"), metavar="DIR", show_default=False)],
    out: Annotated[Path, typer.Option("--out", help=say("help.import_out"), show_default=False)],
    dtype: Annotated[str, typer.Option("--dtype", help=say("help.import_dtype"))] = KEEP,
    family: Annotated[str | None, typer.Option("--family", help=say("help.import_family"), show_default=False)] = None,
    nonfinite: Annotated[bool, typer.Option("--allow-nonfinite", help=say("help.allow_nonfinite"))] = False,
    force: Force = False,
    json: Json = False,
    lang: Lang = None,
    debug: Debug = False,
) -> None:
    if dtype not in (KEEP, *DTYPES):
        raise UsageError("not_one_of", key="--dtype", value=dtype, known=", ".join((KEEP, *DTYPES)))
    import torch

    from glassformer.hub.store import store

    with bar(say("hub.reading"), of_bytes=True) as progress:
        kind = None if dtype == KEEP else getattr(torch, dtype)
        found = store(folder, out, dtype=kind, family=family, finite=not nonfinite, force=force, progress=progress)
    if json:
        print_json(
            {
                "run": str(found.run.folder),
                "family": found.family,
                "task": found.task,
                "parameters": found.parameters,
                "dtypes": list(found.dtypes),
                "tokenizer": None if found.tokenizer == "none" else found.tokenizer,
                "aside": list(found.aside),
            }
        )
        return
    numbers = ", ".join(found.dtypes)
    print_rich(say("hub.imported", family=found.family, task=found.task, count=f"{found.parameters:,}", dtypes=numbers))
    if found.tokenizer == "none" and found.run.config.model.input.kind == "tokens":
        print_rich(say("hub.no_tokenizer"))
    if found.aside:
        print_rich(say("hub.aside", count=len(found.aside), names=", ".join(found.aside[:4])))
    print_rich(say("hub.written", path=found.run.folder))
