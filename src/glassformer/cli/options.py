"""The options that several commands share, and how a value on the command line becomes a value of the configuration."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glassformer.errors import UsageError
from glassformer.words import say

if TYPE_CHECKING:
    from glassformer.loading import Loaded


def _depth(layers: int | None) -> int | None:
    """--layers sets the depth of every side of the model; at least one layer."""
    from glassformer.config.model import MOST_LAYERS

    if layers is not None and not 1 <= layers <= MOST_LAYERS:
        raise UsageError("out_of_range", key="--layers", value=layers, low=1, high=MOST_LAYERS)
    return layers


Model = Annotated[str, typer.Argument(help=say("help.model").replace("[", r"\["), metavar="MODEL", show_default=False)]
Layers = Annotated[int | None, typer.Option("--layers", help=say("help.layers"), show_default=False, callback=_depth)]
Trained = Annotated[str, typer.Argument(help=say("help.trained"), metavar="MODEL", show_default=False)]
ObviousModel = Annotated[
    str | None, typer.Argument(help=say("help.trained_or_none"), metavar="MODEL", show_default=False)
]
TrainedRun = Annotated[str, typer.Argument(help=say("help.trained"), metavar="RUN", show_default=False)]
Texts = Annotated[list[str] | None, typer.Argument(help=say("help.texts"), metavar="TEXT", show_default=False)]
Beam = Annotated[int | None, typer.Option("--beam", help=say("help.beam_told"), show_default=False)]
LengthPenalty = Annotated[
    float | None, typer.Option("--length-penalty", help=say("help.length_penalty"), show_default=False)
]
LengthNorm = Annotated[str | None, typer.Option("--length-norm", help=say("help.length_norm"), show_default=False)]
Stop = Annotated[str | None, typer.Option("--stop", help=say("help.stop"), show_default=False)]
TopClasses = Annotated[int | None, typer.Option("--top", help=say("help.top_classes"), show_default=False)]
Set = Annotated[list[str] | None, typer.Option("--set", help=say("help.set"), show_default=False)]
Device = Annotated[str, typer.Option("--device", help=say("help.use_device"))]
Dtype = Annotated[str, typer.Option("--dtype", "--precision", help=say("help.use_dtype"))]
Checkpoint = Annotated[str, typer.Option("--checkpoint", help=say("help.checkpoint"))]
Truncate = Annotated[bool, typer.Option("--truncate", help=say("help.truncate"))]
Force = Annotated[bool, typer.Option("--force", help=say("help.force"))]
Json = Annotated[bool, typer.Option("--json", help=say("help.json"))]
Lang = Annotated[str | None, typer.Option("--lang", help=say("help.lang"), show_default=False)]
Debug = Annotated[bool, typer.Option("--debug", help=say("help.debug"))]


def open_model(model: str, *, checkpoint: str, device: str, dtype: str) -> Loaded:
    """The trained model that these options name, ready to use."""
    from glassformer.loading import choose_device, choose_loaded_dtype, load

    return load(model, device=choose_device(device), dtype=choose_loaded_dtype(dtype), checkpoint=checkpoint)


def overrides(given: list[str] | None) -> dict[str, Any]:
    """["d_ff=1024", "position=rotary"] → {"d_ff": 1024, "position": "rotary"}; values are TOML, or plain words."""
    table: dict[str, Any] = {}
    for item in given or []:
        key, equals, text = item.partition("=")
        if not (equals and key.strip() and text.strip()):
            raise UsageError("bad_set", given=item)
        table[key.strip()] = parse_value(text)
    return table


def parse_value(text: str) -> Any:
    """A value of TOML, or else a plain word."""
    try:
        table = tomllib.loads(f"value = {text}")
    except (RecursionError, ValueError):  # TOMLDecodeError is a ValueError, and so is a number of too many digits
        return text.strip()
    return table["value"] if len(table) == 1 else text.strip()  # "1\nd_ff = 2" is not a value
