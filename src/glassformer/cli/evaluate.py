"""`glassformer evaluate RUN`: translate a split of the run's data and score it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from glassformer.cli.options import Checkpoint, Debug, Device, Force, Json, Lang
from glassformer.cli.output import print_json, print_rich
from glassformer.errors import InputError
from glassformer.words import say


def command(
    run: Annotated[str, typer.Argument(help=say("help.trained"), metavar="RUN", show_default=False)],
    split: Annotated[str, typer.Option("--split", help=say("help.split"))] = "validation",
    beam: Annotated[int | None, typer.Option("--beam", help=say("help.beam_told"), show_default=False)] = None,
    length_penalty: Annotated[
        float | None, typer.Option("--length-penalty", help=say("help.length_penalty"), show_default=False)
    ] = None,
    length_norm: Annotated[
        str | None, typer.Option("--length-norm", help=say("help.length_norm"), show_default=False)
    ] = None,
    stop: Annotated[str | None, typer.Option("--stop", help=say("help.stop"), show_default=False)] = None,
    checkpoint: Checkpoint = "auto",
    device: Device = "auto",
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
    from glassformer.loading import choose_device, load
    from glassformer.runs.output import claim
    from glassformer.runs.paths import data_files
    from glassformer.tasks.evaluation import evaluate
    from glassformer.tasks.translation.translate import search_for

    loaded = load(run, device=choose_device(device), checkpoint=checkpoint)
    if hypotheses is not None:
        claim(hypotheses, force=force, inputs=[run, *data_files(loaded.config)])
    search = search_for(loaded, beam=beam, length_penalty=length_penalty, length_norm=length_norm, stop=stop)
    with _bar() as progress:
        found = evaluate(loaded, split, search, forensics=forensics, progress=progress)
    # The scores first: a disk that refuses the translations must not take the scores with it.
    if json:
        print_json(found.to_json())
    else:
        print_rich(found)
    if hypotheses is not None:
        texts = [" ".join(text.splitlines()) for some in found.hypotheses.values() for text in some]
        write_text(hypotheses, "".join(f"{text}\n" for text in texts))
        if not json:
            print_rich(say("judge.written", count=len(texts), path=hypotheses))


@contextmanager
def _bar() -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal, nothing elsewhere; always on stderr."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bars:
        task = bars.add_task(say("judge.translating"), total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total)
