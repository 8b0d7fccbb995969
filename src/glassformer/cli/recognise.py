"""`glassformer recognise [MODEL] IMAGE …`: for each image a line with its class and how probable it is."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from glassformer.cli.model_argument import model_and_inputs
from glassformer.cli.options import (
    Checkpoint,
    Debug,
    Device,
    Dtype,
    Force,
    Json,
    Lang,
    ObviousModel,
    TopClasses,
    open_model,
)
from glassformer.cli.output import complain, print_json
from glassformer.errors import FileError, UsageError
from glassformer.words import say


def command(
    model: ObviousModel = None,
    images: Annotated[
        list[str] | None, typer.Argument(help=say("help.images"), metavar="IMAGE", show_default=False)
    ] = None,
    top: TopClasses = None,
    rollout: Annotated[Path | None, typer.Option("--rollout", help=say("help.rollout"), show_default=False)] = None,
    checkpoint: Checkpoint = "auto",
    device: Device = "auto",
    dtype: Dtype = "float32",
    force: Force = False,
    json: Json = False,
    lang: Lang = None,
    debug: Debug = False,
) -> int:
    from glassformer.config.values import size
    from glassformer.runs.output import claim
    from glassformer.tasks.image_classification.recognise import recognise

    model, images = model_and_inputs("recognise", model, images)
    if not images:
        raise UsageError("usage_missing", name="IMAGE", command="recognise")
    if rollout is not None and len(images) != 1:
        raise UsageError("rollout_one", count=len(images))
    if rollout is not None:
        claim(rollout, force=force, inputs=images)
    if top is not None:
        size("top", top)
    loaded = open_model(model, checkpoint=checkpoint, device=device, dtype=dtype)
    found: list[dict[str, Any]] = []
    refused = 0
    for image in images:  # one by one: a bad file is reported, and the others are answered
        try:
            (one,) = recognise(loaded, image)
        except FileError as error:
            complain(error)
            refused += 1
            if json:
                found.append({"input": image, "label": None})
            continue
        if json:
            found.append(one.to_json(top))
        else:
            print("\t".join([one.input, *(f"{label}\t{share:.4f}" for label, share in one.top(top or 1))]))
            sys.stdout.flush()
    if json:
        print_json(found)
    if rollout is not None and not refused:
        from glassformer.tasks.image_classification.rollout import draw_rollout

        draw_rollout(loaded, images[0], rollout)
    return 1 if refused else 0
