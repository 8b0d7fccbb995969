"""`glassformer classify MODEL [TEXT …]`: a line for each text, its class and the probability of it."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from glassformer.cli.lines import Lines
from glassformer.cli.options import Checkpoint, Debug, Device, Dtype, Json, Lang, Truncate
from glassformer.cli.output import print_json
from glassformer.cli.unseen import unseen
from glassformer.errors import InputError, shown
from glassformer.words import say


def command(
    model: Annotated[str, typer.Argument(help=say("help.trained"), metavar="MODEL", show_default=False)],
    texts: Annotated[
        list[str] | None, typer.Argument(help=say("help.texts"), metavar="TEXT", show_default=False)
    ] = None,
    pair: Annotated[bool, typer.Option("--pair", help=say("help.pair"))] = False,
    truncate: Truncate = False,
    top: Annotated[int | None, typer.Option("--top", help=say("help.top_classes"), show_default=False)] = None,
    checkpoint: Checkpoint = "auto",
    device: Device = "auto",
    dtype: Dtype = "float32",
    json: Json = False,
    lang: Lang = None,
    debug: Debug = False,
) -> int:
    from glassformer.config.values import size
    from glassformer.loading import choose_device, choose_dtype, load
    from glassformer.tasks.classification.classify import Classified, classify
    from glassformer.tasks.verbs import check_verb

    if top is not None:
        size("top", top)
    loaded = load(model, device=choose_device(device), dtype=choose_dtype(dtype), checkpoint=checkpoint)
    check_verb(loaded, "classify")
    found: list[dict[str, Any]] = []

    def find(lines: list[str]) -> list[Classified]:
        return classify(loaded, [_both(line) for line in lines] if pair else lines, truncate=truncate)

    if pair and texts:
        texts = _two_by_two(texts)

    given = Lines(texts)
    for lines in given.answered(find):
        for (line, one), words in zip(lines, unseen(loaded, lines), strict=True):
            if json:
                said = {"input": line, "label": None} if one is None else one.to_json(top)
                found.append(said | {"unseen": words})
            elif one is None:
                print()
            else:
                print("\t".join(f"{label}\t{share:.4f}" for label, share in one.top(top or 1)))
        sys.stdout.flush()
    if json:
        print_json(found)
    return given.exit_code


def _two_by_two(texts: list[str]) -> list[str]:
    """Arguments as lines of standard input have them: two texts, a tab between."""
    if len(texts) % 2:
        raise InputError("pair_missing", count=len(texts))
    return [f"{first}\t{second}" for first, second in zip(texts[::2], texts[1::2], strict=True)]


def _both(line: str) -> tuple[str, str]:
    first, tab, second = line.partition("\t")
    if not tab or "\t" in second:
        raise InputError("pair_line", line=shown(line))
    return first, second
