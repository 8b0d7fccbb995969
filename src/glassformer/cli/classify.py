"""`glassformer classify MODEL [TEXT …]`: a line for each text, its class and the probability of it."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from glassformer.cli.lines import answered
from glassformer.cli.options import Checkpoint, Debug, Device, Json, Lang
from glassformer.cli.output import print_json
from glassformer.words import say


def command(
    model: Annotated[str, typer.Argument(help=say("help.trained"), metavar="MODEL", show_default=False)],
    texts: Annotated[
        list[str] | None, typer.Argument(help=say("help.texts"), metavar="TEXT", show_default=False)
    ] = None,
    top: Annotated[int | None, typer.Option("--top", help=say("help.top_classes"), show_default=False)] = None,
    checkpoint: Checkpoint = "auto",
    device: Device = "auto",
    json: Json = False,
    lang: Lang = None,
    debug: Debug = False,
) -> None:
    from glassformer.evaluate.classify import Classified, classify
    from glassformer.evaluate.verbs import check_verb
    from glassformer.open import choose_device, load
    from glassformer.values import size

    if top is not None:
        size("top", top)
    loaded = load(model, device=choose_device(device), checkpoint=checkpoint)
    check_verb(loaded, "classify")
    found: list[dict[str, Any]] = []

    def find(lines: list[str]) -> list[Classified]:
        return classify(loaded, lines)

    for lines in answered(texts, find):
        for _, one in lines:
            if json:
                found.append(one.to_json(top))
            else:
                print("\t".join(f"{label}\t{share:.4f}" for label, share in one.top(top or 1)))
        sys.stdout.flush()
    if json:
        print_json(found)
