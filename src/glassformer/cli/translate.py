"""`glassformer translate MODEL [TEXT …]`: arguments, or standard input line by line, answered as it comes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glassformer.cli.lines import Lines
from glassformer.cli.options import Checkpoint, Debug, Device, Dtype, Json, Lang, Truncate
from glassformer.cli.output import print_json
from glassformer.cli.unseen import unseen
from glassformer.words import say

if TYPE_CHECKING:
    from glassformer.tasks.translation.translate import Translated


def command(
    model: Annotated[str, typer.Argument(help=say("help.trained"), metavar="MODEL", show_default=False)],
    texts: Annotated[
        list[str] | None, typer.Argument(help=say("help.texts"), metavar="TEXT", show_default=False)
    ] = None,
    beam: Annotated[int | None, typer.Option("--beam", help=say("help.beam_told"), show_default=False)] = None,
    length_penalty: Annotated[
        float | None, typer.Option("--length-penalty", help=say("help.length_penalty"), show_default=False)
    ] = None,
    length_norm: Annotated[
        str | None, typer.Option("--length-norm", help=say("help.length_norm"), show_default=False)
    ] = None,
    stop: Annotated[str | None, typer.Option("--stop", help=say("help.stop"), show_default=False)] = None,
    nbest: Annotated[int, typer.Option("--nbest", help=say("help.nbest"))] = 1,
    truncate: Truncate = False,
    checkpoint: Checkpoint = "auto",
    device: Device = "auto",
    dtype: Dtype = "float32",
    json: Json = False,
    lang: Lang = None,
    debug: Debug = False,
) -> int:
    from glassformer.loading import choose_device, choose_dtype, load
    from glassformer.tasks.translation.translate import search_for, translations
    from glassformer.tasks.verbs import check_verb

    loaded = load(model, device=choose_device(device), dtype=choose_dtype(dtype), checkpoint=checkpoint)
    check_verb(loaded, "translate")
    search = search_for(
        loaded,
        beam=beam,
        length_penalty=length_penalty,
        length_norm=length_norm,
        stop=stop,
        nbest=nbest,
        truncate=truncate,
    )
    answers: list[dict[str, Any]] = []

    def find(lines: list[str]) -> list[list[Translated]]:
        return translations(loaded, lines, search)

    given = Lines(texts)
    for lines in given.answered(find):
        for (line, found), words in zip(lines, unseen(loaded, lines), strict=True):
            some = found or []
            if found is None and not json:
                print()  # one line in, one line out
            if json:
                answers.append({"source": line, "translations": [vars(one) for one in some], "unseen": words})
                continue
            for one in some:
                text = " ".join(one.text.splitlines())  # one line in, one line out
                print(text if nbest == 1 else f"{one.score:.4f}\t{text}")
        sys.stdout.flush()
    if json:
        print_json(answers)
    return given.exit_code
