"""`glassformer count MODEL`: the ledger. With a batch or a length, also what one training pass costs."""

from __future__ import annotations

from typing import Annotated

import typer

from glassformer.cli.options import Debug, Json, Lang, Layers, Model, Set, overrides
from glassformer.cli.output import print_json, print_rich
from glassformer.words import say

Batch = Annotated[int | None, typer.Option("--batch", help=say("help.batch"), show_default=False)]
Length = Annotated[int | None, typer.Option("--length", help=say("help.length"), show_default=False)]
Target = Annotated[int | None, typer.Option("--target-length", help=say("help.target_length"), show_default=False)]
Dtype = Annotated[str, typer.Option("--dtype", help=say("help.dtype"))]
Causal = Annotated[str, typer.Option("--causal", help=say("help.causal"))]


def command(
    model: Model,
    layers: Layers = None,
    batch: Batch = None,
    length: Length = None,
    target_length: Target = None,
    dtype: Dtype = "float32",
    causal: Causal = "square",
    set_: Set = None,
    json: Json = False,
    lang: Lang = None,
    debug: Debug = False,
) -> None:
    changes = overrides(set_)
    from glassformer.ledger.costs import Pass
    from glassformer.ledger.parameters import count
    from glassformer.open import open_config

    config = open_config(model, layers=layers, overrides=changes)
    run = None
    if batch is not None or length is not None or target_length is not None:
        run = Pass(
            batch=1 if batch is None else batch,
            length=128 if length is None else length,
            target_length=target_length,
            dtype=dtype,
            causal=causal,
        )
    ledger = count(model, config, run)
    if json:
        print_json(ledger.to_json())
    else:
        print_rich(ledger)
