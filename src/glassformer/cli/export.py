"""`glassformer export RUN --to hf --out DIR`: a model as a folder that another library opens, or as a run to share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from glassformer.cli.bars import bar
from glassformer.cli.options import Checkpoint, Debug, Force, Json, Lang, TrainedRun
from glassformer.cli.output import print_json, print_rich
from glassformer.errors import UsageError
from glassformer.words import say

FORMATS = ("hf", "onnx", "ctranslate2", "run")

TAKES = {  # option → formats
    "--family": ("hf",),
    "--dtype": ("ctranslate2", "run"),
    "--split": ("run",),
    "--checkpoints": ("run",),
}


def command(
    run: TrainedRun,
    out: Annotated[Path, typer.Option("--out", help=say("help.export_out"), show_default=False)],
    to: Annotated[str, typer.Option("--to", help=say("help.export_to"))] = "hf",
    family: Annotated[str | None, typer.Option("--family", help=say("help.family"), show_default=False)] = None,
    dtype: Annotated[str | None, typer.Option("--dtype", help=say("help.export_dtype"), show_default=False)] = None,
    split: Annotated[str | None, typer.Option("--split", help=say("help.export_split"), show_default=False)] = None,
    checkpoint: Checkpoint = "auto",
    checkpoints: Annotated[
        str | None, typer.Option("--checkpoints", help=say("help.export_checkpoints"), show_default=False)
    ] = None,
    force: Force = False,
    json: Json = False,
    lang: Lang = None,
    debug: Debug = False,
) -> None:
    if to not in FORMATS:
        raise UsageError("not_one_of", key="--to", value=to, known=", ".join(FORMATS))
    given_to = {"--family": family, "--dtype": dtype, "--split": split, "--checkpoints": checkpoints}
    for option, given in given_to.items():
        if given is not None and to not in TAKES[option]:
            raise UsageError("export_not_together", option=option, to=to)
    steps = _steps(checkpoints, checkpoint)
    from glassformer.loading.trained import resolve_model

    run = str(resolve_model(run))
    if to == "run":
        _share(run, out, dtype=dtype, checkpoint=checkpoint, steps=steps, split=split, force=force, json=json)
        return
    if to == "onnx":
        _write_graphs(run, out, checkpoint=checkpoint, force=force, json=json)
        return
    if to == "ctranslate2":
        from glassformer.hub.ctranslate2 import export_ctranslate2

        found = export_ctranslate2(run, out, dtype=dtype or "float32", checkpoint=checkpoint, force=force)
    else:
        from glassformer.hub.export import export_run

        with bar(say("hub.writing"), of_bytes=True) as progress:
            found = export_run(run, out, family=family, checkpoint=checkpoint, force=force, progress=progress)
    if json:
        print_json(
            {
                "folder": str(found.folder),
                "family": found.family,
                "architecture": found.architecture,
                "parameters": found.parameters,
                "tokenizer": found.tokenizer,
            }
        )
        return
    print_rich(say("hub.exported", architecture=found.architecture, count=f"{found.parameters:,}"))
    if found.tokenizer is False:
        print_rich(say("hub.tokenizer_ours"))
    if found.another_norm:
        print_rich(say("hub.another_norm_ctranslate2" if to == "ctranslate2" else "hub.another_norm"))
    print_rich(say("hub.written", path=found.folder))


def _steps(given: str | None, checkpoint: str) -> list[int]:
    """The steps of --checkpoints, "50,150"."""
    if given is None:
        return []
    if checkpoint != "auto":
        raise UsageError("export_one_or_several")
    words = [word.strip() for word in given.split(",")]
    for word in words:
        if not (word.isascii() and word.isdecimal() and len(word) < 12):
            raise UsageError("export_not_steps", value=given[:60])
    return [int(word) for word in words]


def _share(
    run: str,
    out: Path,
    *,
    dtype: str | None,
    checkpoint: str,
    steps: list[int],
    split: str | None,
    force: bool,
    json: bool,
) -> None:
    from glassformer.sharing import share_run

    with bar(say("judge.translating")) as progress:
        card = share_run(
            run,
            out,
            dtype=dtype or "float16",
            checkpoint=checkpoint,
            checkpoints=steps,
            split=split or "validation",
            force=force,
            progress=progress,
        )
    if json:
        print_json(card.to_json() | {"folder": str(out)})
        return
    about = {"name": card.name, "count": f"{card.parameters:,}", "size": card.size, "score": card.scored(card.score)}
    print_rich(say("models.written", **about), say("hub.written", path=out))


def _write_graphs(run: str, out: Path, *, checkpoint: str, force: bool, json: bool) -> None:
    from glassformer.graphs import export_onnx

    with bar(say("hub.writing")) as progress:
        found = export_onnx(run, out, checkpoint=checkpoint, force=force, progress=progress)
    if json:
        print_json(
            {
                "folder": str(found.folder),
                "graphs": list(found.graphs),
                "parameters": found.parameters,
                "difference": found.difference,
                "tokenizer": found.tokenizer,
            }
        )
        return
    numbers = {"count": f"{found.parameters:,}", "difference": f"{found.difference:.0e}"}
    print_rich(say("onnx.exported", graphs=", ".join(found.graphs), **numbers))
    print_rich(say("hub.written", path=found.folder))
