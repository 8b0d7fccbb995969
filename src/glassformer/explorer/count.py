"""What a model like this one would hold and cost: parameters, FLOPs and memory by formula, and whether it fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from glassformer.config.model import ModelConfig
from glassformer.config.values import size
from glassformer.errors import ConfigError, choose
from glassformer.explorer import fields
from glassformer.explorer.fields import Fields
from glassformer.ledger import show
from glassformer.ledger.costs import Pass
from glassformer.ledger.devices import DEVICES
from glassformer.ledger.job import Job
from glassformer.ledger.parameters import Ledger, count
from glassformer.ledger.plan import Plan, plan
from glassformer.loading import open_config
from glassformer.models.check import input_positions

REQUEST_KEYS = ("model", "checkpoint", "set", "batch", "length", "device")
SETTABLE = ("d_model", "n_heads", "n_kv_heads", "d_ff", "layers", "vocab_size", "target_vocab_size", "max_len")
MOST_LAYERS, MOST_WIDTH = 256, 1 << 20
USUAL = "t4"
TOKENS = 10**9  # of the plan: enough to compare devices


def counted(name: str, config: ModelConfig, request: Fields, lang: str) -> dict[str, Any]:
    """The ledger and the plan of a changed configuration; or `refused`, why these sizes do not fit together."""
    wanted = wanted_sizes(request)
    batch = fields.whole(request, "batch", 1, 1 << 20) or 8
    length = fields.whole(request, "length", 1)
    device = choose("device", fields.optional_text(request, "device") or USUAL, DEVICES)
    try:
        changed = changed_config(config, wanted)
        length = input_positions(changed) or length or min(128, changed.max_len)
        ledger = count(name, changed, Pass(batch=batch, length=length))
        job = plan(name, changed, tokens=TOKENS, device=device, job=Job(batch=batch, length=length))
        return {"sizes": sizes(changed), "pass": {"batch": batch, "length": length}, **told(ledger), **planned(job)}
    except ConfigError as error:
        return {"refused": error.in_language(lang)}


def wanted_sizes(request: Fields) -> dict[str, int]:
    wanted = fields.table("set", request.get("set", {}))
    fields.known_keys(wanted, SETTABLE)
    return {key: size(key, value, 1, MOST_LAYERS if key == "layers" else MOST_WIDTH) for key, value in wanted.items()}


def changed_config(config: ModelConfig, wanted: Mapping[str, int]) -> ModelConfig:
    """The configuration with other sizes. Sizes that are written out although they follow from others follow still."""
    follows: dict[str, Any] = {}
    if config.d_k and config.d_k * config.n_heads == config.d_model:
        follows["d_k"] = None
    if config.d_v == config.head_size:
        follows["d_v"] = None
    if config.n_kv_heads == config.n_heads:
        follows["n_kv_heads"] = None
    given = dict(wanted)
    layers = given.pop("layers", None)
    return open_config(replace(config, **follows) if wanted else config, layers=layers, overrides=given)


def told(ledger: Ledger) -> dict[str, Any]:
    """Parameters, FLOPs and memory of a ledger."""
    return {"parts": parts(ledger), "groups": groups(ledger), "total": vars(ledger.total), **costs(ledger)}


def parts(ledger: Ledger) -> list[dict[str, Any]]:
    """Every row of the ledger, in the order of the data."""
    return [
        {
            "name": row.name,
            "kind": row.kind,
            "formula": row.formula,
            "numbers": row.numbers,
            "parameters": row.parameters,
            "buffers": row.buffers,
            "tied": row.tied,
            "share": show.share(row.parameters, ledger.total.parameters),
        }
        for row in ledger.parts
    ]


def groups(ledger: Ledger) -> list[dict[str, Any]]:
    """The sum of everything at or below each path that has several rows: a stack, a layer, a box."""
    sums = {path: [0, 0] for row in ledger.parts for path in above(row.name)}
    for row in ledger.parts:
        for path in (*above(row.name), row.name):
            if path in sums:
                sums[path][0] += row.parameters
                sums[path][1] += row.buffers
    whole = ledger.total.parameters
    return [
        {"name": path, "parameters": parameters, "buffers": buffers, "share": show.share(parameters, whole)}
        for path, (parameters, buffers) in sums.items()
    ]


def above(name: str) -> list[str]:
    """encoder.blocks.0.self_attention.qkv → encoder, encoder.blocks.0, encoder.blocks.0.self_attention."""
    steps = name.split(".")
    return [".".join(steps[:end]) for end in range(1, len(steps)) if steps[end - 1] != "blocks"]


def costs(ledger: Ledger) -> dict[str, Any]:
    """FLOPs of the pass, part by part, and the fullest moment of a training step."""
    every = [*ledger.costs.values()]
    assert ledger.memory is not None
    return {
        "flops": [{"name": cost.part, "forward": cost.forward, "backward": cost.backward} for cost in every],
        "flops_total": {
            "forward": sum(cost.forward for cost in every),
            "backward": sum(cost.backward for cost in every),
        },
        "memory": {"peak_bytes": ledger.memory.peak, "peak_at": ledger.memory.at},
    }


def planned(one: Plan) -> dict[str, Any]:
    """Does it fit on the device, and what takes the room."""
    return {
        "plan": {
            "device": one.device.name,
            "fits": one.fits,
            "bytes": one.memory_bytes,
            "available": one.device.memory,
            "items": [{"name": item.name, "bytes": item.bytes, "counted": item.counted} for item in one.memory],
            "remedies": [*one.remedies],
            "seconds": one.seconds,
            "tokens": one.tokens,
            "limit": one.limit,
        },
        "devices": [*DEVICES],
    }


def sizes(config: ModelConfig) -> dict[str, int]:
    """The sizes that this model has; one without a vocabulary has no size of it."""
    own = {
        "layers": max(config.encoder_layers, config.decoder_layers),
        "n_kv_heads": config.n_kv_heads or config.n_heads,
    }
    found = {key: own.get(key) or getattr(config, key) for key in SETTABLE}
    return {key: value for key, value in found.items() if value}
