"""The options that several commands share, and how a value on the command line becomes a value of the configuration."""

from __future__ import annotations

import tomllib
from typing import Annotated, Any

import typer

from glassformer.errors import UsageError
from glassformer.words import say


def _depth(layers: int | None) -> int | None:
    """--layers sets every side that the family has, and such a side has at least one layer."""
    from glassformer.config.model import MOST_LAYERS

    if layers is not None and not 1 <= layers <= MOST_LAYERS:
        raise UsageError("out_of_range", key="--layers", value=layers, low=1, high=MOST_LAYERS)
    return layers


Model = Annotated[str, typer.Argument(help=say("help.model").replace("[", r"\["), metavar="MODEL", show_default=False)]
Layers = Annotated[int | None, typer.Option("--layers", help=say("help.layers"), show_default=False, callback=_depth)]
Set = Annotated[list[str] | None, typer.Option("--set", help=say("help.set"), show_default=False)]
Device = Annotated[str, typer.Option("--device", help=say("help.use_device"))]
Dtype = Annotated[str, typer.Option("--dtype", help=say("help.use_dtype"))]
Checkpoint = Annotated[str, typer.Option("--checkpoint", help=say("help.checkpoint"))]
Truncate = Annotated[bool, typer.Option("--truncate", help=say("help.truncate"))]
Force = Annotated[bool, typer.Option("--force", help=say("help.force"))]
Json = Annotated[bool, typer.Option("--json", help=say("help.json"))]
Lang = Annotated[str | None, typer.Option("--lang", help=say("help.lang"), show_default=False)]
Debug = Annotated[bool, typer.Option("--debug", help=say("help.debug"))]


def overrides(given: list[str] | None) -> dict[str, Any]:
    """["d_ff=1024", "position=rotary"] → {"d_ff": 1024, "position": "rotary"}; values are TOML, or plain words."""
    table: dict[str, Any] = {}
    for item in given or []:
        key, equals, text = item.partition("=")
        if not (equals and key.strip() and text.strip()):
            raise UsageError("bad_set", given=item)
        table[key.strip()] = _value(text)
    return table


def _value(text: str) -> Any:
    try:
        table = tomllib.loads(f"value = {text}")
    except (RecursionError, ValueError):  # TOMLDecodeError is a ValueError; a number of too many digits is one too
        return text.strip()
    return table["value"] if len(table) == 1 else text.strip()  # "1\nd_ff = 2" is no value
