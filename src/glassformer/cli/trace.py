"""`glassformer trace MODEL TEXT`: a sentence through every step."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from glassformer.cli.lines import outside_training
from glassformer.cli.options import Checkpoint, Debug, Device, Force, Json, Lang, Layers, Model, Set, overrides
from glassformer.cli.output import print_json, print_rich
from glassformer.errors import UsageError
from glassformer.words import say


def command(
    model: Model,
    text: Annotated[str, typer.Argument(help=say("help.text"), metavar="TEXT", show_default=False)],
    target: Annotated[str | None, typer.Option("--target", help=say("help.target"), show_default=False)] = None,
    layer: Annotated[int, typer.Option("--layer", help=say("help.layer"))] = 0,
    head: Annotated[int, typer.Option("--head", help=say("help.head"))] = 0,
    seed: Annotated[int, typer.Option("--seed", help=say("help.seed"))] = 0,
    save: Annotated[Path | None, typer.Option("--save", help=say("help.save"), show_default=False)] = None,
    layers: Layers = None,
    set_: Set = None,
    checkpoint: Checkpoint = "auto",
    device: Device = "auto",
    force: Force = False,
    json: Json = False,
    lang: Lang = None,
    debug: Debug = False,
) -> None:
    changes = overrides(set_)
    if not 0 <= seed < 2**63:
        raise UsageError("out_of_range", key="--seed", value=seed, low=0, high=2**63 - 1)
    from glassformer.loading import choose_device, load, open_config, weights_folder
    from glassformer.runs.output import claim
    from glassformer.trace.sentence import follow

    if save is not None:
        claim(save, force=force, inputs=[model])
    config = open_config(model, layers=layers, overrides=changes)
    folder = weights_folder(model)
    if folder is not None and (layers is not None or changes):
        raise UsageError("run_is_trained", path=model)
    if folder is None and (checkpoint != "auto" or device not in ("auto", "cpu")):
        raise UsageError("untrained_here", model=model)
    loaded = None if folder is None else load(folder, device=choose_device(device), checkpoint=checkpoint)
    reader = None if loaded is None else loaded.reader()
    story = follow(model, config, text, target=target, layer=layer, head=head, seed=seed, trained=reader)
    outside = {} if loaded is None else outside_training(loaded, [(text, story)])[0].to_json()
    if save is not None:
        story.trace.save(save)
    if json:
        print_json(story.to_json() | outside)
        return
    print_rich(story)
    if save is not None:
        print_rich(say("trace.saved", path=save))
