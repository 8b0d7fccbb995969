"""What a model like this one would hold and cost: parameters, FLOPs and memory by formula, and whether it fits."""

from __future__ import annotations

from typing import Any

from glassformer.config.model import ModelConfig
from glassformer.config.values import size
from glassformer.errors import choose
from glassformer.explorer import fields
from glassformer.explorer.fields import Fields
from glassformer.ledger.costs import Pass
from glassformer.ledger.devices import DEVICES
from glassformer.ledger.job import Job
from glassformer.ledger.parameters import Ledger, count
from glassformer.ledger.plan import Plan, plan
from glassformer.loading import open_config

REQUEST_KEYS = ("model", "checkpoint", "set", "batch", "length", "device")
SETTABLE = ("d_model", "n_heads", "n_kv_heads", "d_ff", "layers", "vocab_size", "max_len")
MOST_LAYERS, MOST_WIDTH = 256, 1 << 20
USUAL = "t4"
TOKENS = 10**9  # of the plan: enough to compare devices


def counted(name: str, config: ModelConfig, request: Fields) -> dict[str, Any]:
    """The ledger and the plan of a changed configuration."""
    changed = changed_config(config, fields.table("set", request.get("set", {})))
    batch = fields.whole(request, "batch", 1, 1 << 20) or 8
    length = min(128, changed.max_len) if request.get("length") is None else fields.whole(request, "length", 1)
    device = fields.optional_text(request, "device") or USUAL
    one = choose("device", device, DEVICES)
    ledger = count(name, changed, Pass(batch=batch, length=length or 1))
    job = plan(name, changed, tokens=TOKENS, device=one, job=Job(batch=batch, length=length))
    return {
        "sizes": {key: _size_of(changed, key) for key in SETTABLE if _size_of(changed, key)},
        "parts": parts(ledger),
        "total": vars(ledger.total),
        "pass": {"batch": batch, "length": length},
        **costs(ledger),
        "plan": shown_plan(job),
        "devices": [*DEVICES],
    }


def changed_config(config: ModelConfig, wanted: Fields) -> ModelConfig:
    """The configuration with other sizes; raises what `gf.count` raises where they do not fit together."""
    fields.known_keys(wanted, SETTABLE)
    given = {key: size(key, value, 1, MOST_LAYERS if key == "layers" else MOST_WIDTH) for key, value in wanted.items()}
    layers = given.pop("layers", None)
    if "n_heads" in given and config.d_k and config.d_k * config.n_heads == config.d_model:
        given["d_k"] = given.get("d_model", config.d_model) // given["n_heads"]
    return open_config(config, layers=layers, overrides=given)


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
        }
        for row in ledger.parts
    ]


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


def shown_plan(one: Plan) -> dict[str, Any]:
    """Does it fit on the device, and what takes the room."""
    return {
        "device": one.device.name,
        "fits": one.fits,
        "bytes": one.memory_bytes,
        "available": one.device.memory,
        "items": [{"name": item.name, "bytes": item.bytes, "counted": item.counted} for item in one.memory],
        "remedies": [*one.remedies],
        "seconds": one.seconds,
        "tokens": one.tokens,
        "limit": one.limit,
    }


def _size_of(config: ModelConfig, key: str) -> int:
    if key == "layers":
        return max(config.encoder_layers, config.decoder_layers)
    if key == "n_kv_heads":
        return config.n_kv_heads or config.n_heads
    return getattr(config, key) or 0
