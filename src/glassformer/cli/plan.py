"""`glassformer plan MODEL`: will it fit, how long will it take, what limits it."""

from __future__ import annotations

from typing import Annotated

import typer

from glassformer.cli.options import Debug, Json, Lang, Layers, Model, Set, overrides
from glassformer.cli.output import print_found
from glassformer.words import say

Tokens = Annotated[str, typer.Option("--tokens", help=say("help.plan_tokens"), show_default=False)]
Device = Annotated[str, typer.Option("--device", help=say("help.plan_device"))]
Devices = Annotated[int, typer.Option("--devices", help=say("help.plan_devices"))]
Parallel = Annotated[str, typer.Option("--parallel", help=say("help.plan_parallel"))]
Batch = Annotated[int, typer.Option("--batch", help=say("help.plan_batch"))]
Length = Annotated[int | None, typer.Option("--length", help=say("help.plan_length"), show_default=False)]
Target = Annotated[int | None, typer.Option("--target-length", help=say("help.plan_target_length"), show_default=False)]
Accumulate = Annotated[int, typer.Option("--accumulate", help=say("help.plan_accumulate"))]
Dtype = Annotated[str | None, typer.Option("--dtype", help=say("help.plan_dtype"), show_default=False)]
Precision = Annotated[str, typer.Option("--precision", help=say("help.plan_precision"))]
Optimizer = Annotated[str, typer.Option("--optimizer", help=say("help.plan_optimizer"))]
Checkpointing = Annotated[str, typer.Option("--checkpointing", help=say("help.plan_checkpointing"))]
NoSync = Annotated[bool, typer.Option("--no-sync", help=say("help.plan_no_sync"))]
Causal = Annotated[str, typer.Option("--causal", help=say("help.plan_causal"))]
Loss = Annotated[str, typer.Option("--loss", help=say("help.plan_loss"))]
Utilisation = Annotated[
    float | None, typer.Option("--utilisation", help=say("help.plan_utilisation"), show_default=False)
]
Mfu = Annotated[float | None, typer.Option("--mfu", help=say("help.plan_mfu"), show_default=False)]
Price = Annotated[float | None, typer.Option("--price", help=say("help.plan_price"), show_default=False)]


def command(
    model: Model,
    tokens: Tokens,
    device: Device = "this-machine",
    devices: Devices = 1,
    parallel: Parallel = "fsdp",
    batch: Batch = 1,
    length: Length = None,
    target_length: Target = None,
    accumulate: Accumulate = 1,
    dtype: Dtype = None,
    precision: Precision = "mixed",
    optimizer: Optimizer = "adamw",
    checkpointing: Checkpointing = "none",
    no_sync: NoSync = False,
    causal: Causal = "square",
    loss: Loss = "chunks",
    utilisation: Utilisation = None,
    mfu: Mfu = None,
    price: Price = None,
    layers: Layers = None,
    set_: Set = None,
    json: Json = False,
    lang: Lang = None,
    debug: Debug = False,
) -> None:
    changes = overrides(set_)
    from glassformer.ledger.amounts import amount
    from glassformer.ledger.devices import device_named
    from glassformer.ledger.job import Job
    from glassformer.ledger.plan import plan
    from glassformer.loading import open_config

    job = Job(
        devices=devices,
        parallel=parallel,
        batch=batch,
        length=length,
        target_length=target_length,
        accumulate=accumulate,
        dtype=dtype,
        precision=precision,
        optimizer=optimizer,
        checkpointing=checkpointing,
        no_sync=no_sync,
        causal=causal,
        loss=loss,
    )
    made = plan(
        model,
        open_config(model, layers=layers, overrides=changes),
        tokens=amount("tokens", tokens),
        device=device_named(device),
        job=job,
        utilisation=utilisation,
        mfu=mfu,
        price=price,
    )
    print_found(made, json=json)
