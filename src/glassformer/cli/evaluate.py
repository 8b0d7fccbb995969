"""`glassformer evaluate RUN`: translate a split of the run's data and score it."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from glassformer.cli.bars import bar
from glassformer.cli.options import (
    Beam,
    Checkpoint,
    Debug,
    Device,
    Dtype,
    Force,
    Json,
    Lang,
    LengthNorm,
    LengthPenalty,
    Stop,
    TrainedRun,
    open_model,
)
from glassformer.cli.output import print_found, print_rich
from glassformer.cli.prepared import shown_preparation
from glassformer.errors import InputError
from glassformer.words import say


def quietly(done: int, total: int) -> None:
    """The progress of a rank that says nothing."""


def command(
    run: TrainedRun,
    split: Annotated[str, typer.Option("--split", help=say("help.split"))] = "validation",
    beam: Beam = None,
    length_penalty: LengthPenalty = None,
    length_norm: LengthNorm = None,
    stop: Stop = None,
    checkpoint: Checkpoint = "auto",
    device: Device = "auto",
    dtype: Dtype = "float32",
    forensics: Annotated[bool, typer.Option("--forensics", help=say("help.forensics"))] = False,
    teacher_forced: Annotated[bool, typer.Option("--teacher-forced", help=say("help.teacher_forced"))] = False,
    hypotheses: Annotated[
        Path | None, typer.Option("--hypotheses", help=say("help.hypotheses"), show_default=False)
    ] = None,
    force: Force = False,
    json: Json = False,
    lang: Lang = None,
    debug: Debug = False,
) -> None:
    if teacher_forced:
        raise InputError("teacher_forced_bleu")
    from glassformer.files import write_text
    from glassformer.runs.output import claim
    from glassformer.runs.paths import data_files
    from glassformer.tasks.evaluation import evaluate
    from glassformer.tasks.search import search_for
    from glassformer.torchrun import ranks_here

    with ranks_here() as ranks:
        loaded = ranks.from_each(lambda: open_model(run, checkpoint=checkpoint, device=device, dtype=dtype))
        if hypotheses is not None:
            ranks.from_first(lambda: claim(hypotheses, force=force, inputs=[run, *data_files(loaded.config)]))
        search = search_for(loaded, beam=beam, length_penalty=length_penalty, length_norm=length_norm, stop=stop)
        watched = bar(say("judge.translating")) if ranks.first else nullcontext(quietly)
        with shown_preparation(quiet=json or not ranks.first), watched as progress:
            found = evaluate(loaded, split, search, forensics=forensics, progress=progress, ranks=ranks)
    if not ranks.first:
        return
    # The scores first: they must not be lost if the translations cannot be written.
    print_found(found, json=json)
    if hypotheses is not None:
        texts = [" ".join(text.splitlines()) for some in found.hypotheses.values() for text in some]
        write_text(hypotheses, "".join(f"{text}\n" for text in texts))
        if not json:
            print_rich(say("judge.written", count=len(texts), path=hypotheses))
