"""`glassformer count MODEL`: the ledger. With a batch or a length, also what one pass costs and the memory it needs."""

from __future__ import annotations

from typing import Annotated

import typer

from glassformer.cli.options import Debug, Json, Lang, Layers, Model, Set, overrides
from glassformer.cli.output import print_found
from glassformer.words import say

Batch = Annotated[int | None, typer.Option("--batch", help=say("help.batch"), show_default=False)]
Length = Annotated[int | None, typer.Option("--length", help=say("help.length"), show_default=False)]
Target = Annotated[int | None, typer.Option("--target-length", help=say("help.target_length"), show_default=False)]
Dtype = Annotated[str, typer.Option("--dtype", help=say("help.dtype"))]
Causal = Annotated[str, typer.Option("--causal", help=say("help.causal"))]
Kernel = Annotated[str, typer.Option("--kernel", help=say("help.kernel"))]
Device = Annotated[str, typer.Option("--device", help=say("help.device_kind"))]
Autocast = Annotated[bool, typer.Option("--autocast", help=say("help.autocast"))]
Recompute = Annotated[bool, typer.Option("--recompute", help=say("help.recompute"))]
Optimizer = Annotated[str, typer.Option("--optimizer", help=say("help.optimizer"))]
Decode = Annotated[bool, typer.Option("--decode", help=say("help.decode"))]
Beams = Annotated[int, typer.Option("--beams", help=say("help.beams"))]
Loss = Annotated[str, typer.Option("--loss", help=say("help.loss_form"))]
Past = Annotated[int, typer.Option("--past", help=say("help.past"))]


def command(
    model: Model,
    layers: Layers = None,
    batch: Batch = None,
    length: Length = None,
    target_length: Target = None,
    dtype: Dtype = "float32",
    causal: Causal = "square",
    kernel: Kernel = "fused",
    device: Device = "cpu",
    autocast: Autocast = False,
    recompute: Recompute = False,
    optimizer: Optimizer = "adamw",
    decode: Decode = False,
    past: Past = 0,
    beams: Beams = 1,
    loss: Loss = "chunks",
    set_: Set = None,
    json: Json = False,
    lang: Lang = None,
    debug: Debug = False,
) -> None:
    changes = overrides(set_)
    from glassformer.ledger.costs import Pass
    from glassformer.ledger.parameters import count
    from glassformer.loading import open_config

    config = open_config(model, layers=layers, overrides=changes)
    run = Pass(  # always created, so that a wrong type, kernel or length is refused even without a pass
        batch=1 if batch is None else batch,
        length=(1 if decode else 128) if length is None else length,
        target_length=target_length,
        dtype=dtype,
        training=not decode,
        past=past,
        causal=causal,
        kernel=kernel,
        device=device,
        autocast=autocast,
        recompute=recompute,
        optimizer=optimizer,
        loss=loss,
        beams=beams,
    )
    wanted = decode or any(given is not None for given in (batch, length, target_length))
    ledger = count(model, config, run if wanted else None)
    print_found(ledger, json=json)
