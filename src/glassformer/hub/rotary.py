"""Rotary positions in a config.json: `rope_parameters` today, `rope_theta` and `rope_scaling` before."""

from __future__ import annotations

from typing import Any

from glassformer.config.values import Choice
from glassformer.hub.foreign import Foreign

SCALINGS = {"default": "none", "linear": "linear", "dynamic": "dynamic", "yarn": "yarn", "llama3": "llama3"}
LLAMA3 = {"low_freq_factor": "low_frequency_factor", "high_freq_factor": "high_frequency_factor"}
YARN = ("beta_fast", "beta_slow", "attention_factor", "mscale", "mscale_all_dim")


def read_rotary(foreign: Foreign, *, base: float, max_len: int) -> Choice:
    """Theirs → ours. `base` and `max_len` are the defaults of the family and of the file."""
    rope = foreign.within("rope_scaling") if foreign.table.get("rope_scaling") else foreign.within("rope_parameters")
    rope.only("partial_rotary_factor", 1.0)
    foreign.only("partial_rotary_factor", 1.0)
    options: dict[str, Any] = {"base": rope.number("rope_theta", foreign.number("rope_theta", base))}
    older = "type" if "type" in rope.table and "rope_type" not in rope.table else "rope_type"
    scaling = rope.one_of(older, SCALINGS, "default")
    original = rope.whole("original_max_position_embeddings", max_len)
    match scaling:
        case "none":
            return Choice("rotary", options)
        case "dynamic":
            original = max_len  # `transformers` uses no other key here
        case "llama3":
            options |= {ours: rope.number(theirs) for theirs, ours in LLAMA3.items()}
        case "yarn":
            options |= _yarn(rope)
    factor = rope.number("factor")
    if factor == 1.0 and scaling != "dynamic" and "attention_factor" not in options:  # no scaling at all
        return Choice("rotary", {"base": options["base"]})
    reach = {} if scaling == "linear" else {"original_max_len": original}
    return Choice("rotary", {**options, "scaling": scaling, "factor": factor, **reach})


def _yarn(rope: Foreign) -> dict[str, Any]:
    """Options that differ from the defaults. As in `transformers`, 0 or one mscale alone counts as not given."""
    given = {key: rope.number(key) for key in YARN if rope.table.get(key)}
    if not ("mscale" in given and "mscale_all_dim" in given):
        given = {key: value for key, value in given.items() if not key.startswith("mscale")}
    return given if rope.truth("truncate", True) else {**given, "truncate": False}


def write_rotary(position: Choice, *, base: float = 10000.0) -> dict[str, Any]:
    """Ours → theirs; a scaling that they do not have is written under our name, which they will refuse."""
    options = dict(position.options)
    scaling = options.get("scaling", "none")
    rope: dict[str, Any] = {"rope_theta": options.get("base", base), "rope_type": "default"}
    if scaling == "none":
        return rope
    rope |= {"rope_type": scaling, "factor": options.get("factor", 1.0)}
    if scaling in ("llama3", "yarn"):
        rope["original_max_position_embeddings"] = options.get("original_max_len", 8192)
    if scaling == "llama3":
        defaults = {"low_frequency_factor": 1.0, "high_frequency_factor": 4.0}
        rope |= {theirs: options.get(ours, defaults[ours]) for theirs, ours in LLAMA3.items()}
    if scaling == "yarn":
        rope |= {key: options[key] for key in (*YARN, "truncate") if key in options}
    return rope
