"""`glassformer fill MODEL [TEXT …]`: the words that fit where a text says [MASK] or ___."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glassformer.cli.lines import Lines
from glassformer.cli.options import Checkpoint, Debug, Device, Dtype, Json, Lang, Truncate
from glassformer.cli.output import print_json, print_rich
from glassformer.cli.unseen import unseen
from glassformer.words import say

if TYPE_CHECKING:
    from glassformer.tasks.answers import Answers
    from glassformer.tasks.masked_language_model.fill import Filled


def command(
    model: Annotated[str, typer.Argument(help=say("help.trained"), metavar="MODEL", show_default=False)],
    texts: Annotated[
        list[str] | None, typer.Argument(help=say("help.gaps").replace("[", r"\["), metavar="TEXT", show_default=False)
    ] = None,
    truncate: Truncate = False,
    top: Annotated[int, typer.Option("--top", help=say("help.top_words"))] = 5,
    checkpoint: Checkpoint = "auto",
    device: Device = "auto",
    dtype: Dtype = "float32",
    json: Json = False,
    lang: Lang = None,
    debug: Debug = False,
) -> int:
    from glassformer.loading import choose_device, choose_dtype, load
    from glassformer.tasks.masked_language_model.fill import fill, split
    from glassformer.tasks.verbs import check_verb

    loaded = load(model, device=choose_device(device), dtype=choose_dtype(dtype), checkpoint=checkpoint)
    check_verb(loaded, "fill")
    found: list[dict[str, Any]] = []

    def find(lines: list[str]) -> list[Answers[Filled]]:
        return [fill(loaded, line, top, truncate=truncate) for line in lines]

    given = Lines(texts)
    for lines in given.answered(find):
        written = [(" ".join(split(loaded.tokenizer, line)[::2]), masks) for line, masks in lines]  # a gap is no word
        for (line, masks), words in zip(lines, unseen(loaded, written), strict=True):
            if json:
                found.append({"text": line, "masks": [one.to_json() for one in masks or ()], "unseen": words})
            elif masks is None:
                print()
            else:
                print_rich(masks)
        sys.stdout.flush()
    if json:
        print_json(found)
    return given.exit_code
