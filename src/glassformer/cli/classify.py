"""`glassformer classify [MODEL] [TEXT …]`: for each text a line with its class and how probable it is."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from glassformer.cli.lines import Lines
from glassformer.cli.model_argument import model_and_inputs
from glassformer.cli.options import (
    Checkpoint,
    Debug,
    Device,
    Dtype,
    Json,
    Lang,
    ObviousModel,
    Texts,
    TopClasses,
    Truncate,
    open_model,
)
from glassformer.errors import InputError, shown
from glassformer.words import say


def command(
    model: ObviousModel = None,
    texts: Texts = None,
    pair: Annotated[bool, typer.Option("--pair", help=say("help.pair"))] = False,
    truncate: Truncate = False,
    top: TopClasses = None,
    checkpoint: Checkpoint = "auto",
    device: Device = "auto",
    dtype: Dtype = "float32",
    json: Json = False,
    lang: Lang = None,
    debug: Debug = False,
) -> int:
    from glassformer.config.values import size
    from glassformer.tasks.classification.classify import Classified, classify
    from glassformer.tasks.verbs import check_verb

    if top is not None:
        size("top", top)
    model, texts = model_and_inputs("classify", model, texts)
    loaded = open_model(model, checkpoint=checkpoint, device=device, dtype=dtype)
    check_verb(loaded, "classify")
    if pair and texts:
        texts = _two_by_two(texts)

    def find(lines: list[str]) -> list[Classified]:
        return classify(loaded, [_both(line) for line in lines] if pair else lines, truncate=truncate)

    def to_json(line: str, one: Classified | None) -> dict[str, Any]:
        return {"input": line, "label": None} if one is None else one.to_json(top)

    def show(one: Classified) -> None:
        print("\t".join(f"{label}\t{share:.4f}" for label, share in one.top(top or 1)))

    return Lines(texts).answer(loaded, find, show, to_json, json=json)


def _two_by_two(texts: list[str]) -> list[str]:
    """Join arguments in pairs, with a tab between, as in lines of standard input."""
    if len(texts) % 2:
        raise InputError("pair_missing", count=len(texts))
    return [f"{first}\t{second}" for first, second in zip(texts[::2], texts[1::2], strict=True)]


def _both(line: str) -> tuple[str, str]:
    first, tab, second = line.partition("\t")
    if not tab or "\t" in second:
        raise InputError("pair_line", line=shown(line))
    return first, second
