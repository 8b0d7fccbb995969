"""A pass as bytes: one safetensors file, maps in float16, vectors in float32, masks apart, the rest as JSON in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import torch
from safetensors.numpy import save
from torch import Tensor

from glassformer.explorer.passes import MAPS, ShownPass, masks
from glassformer.explorer.sizes import sizes_of

SCHEMA = 1


def payload(one: ShownPass, model: str) -> bytes:
    """The file; `__metadata__.trace` says what is in it."""
    shown = {name: one.shown(name) for name in one.trace.tensors}
    tensors = {name: _sent(name, x) for name, x in shown.items() if x is not None}
    tensors |= {name: allowed.to(torch.uint8).contiguous() for name, allowed in masks(one)}
    tensors |= {name: x.float().contiguous() for name, x in one.given.tensors.items()}
    return as_bytes(tensors, {"trace": json.dumps(about(one, model), ensure_ascii=False)})


def as_bytes(tensors: Mapping[str, Tensor], metadata: dict[str, str]) -> bytes:
    """A safetensors file. By way of numpy: for tensors, ctypes would keep a type of every size that was ever sent."""
    return save({name: x.numpy() for name, x in tensors.items()}, metadata)


def about(one: ShownPass, model: str) -> dict[str, Any]:
    """Everything about a pass that is no tensor."""
    given, config = one.given, one.loaded.config
    sides = {"source": given.source} | ({} if given.target is None else {"target": given.target})
    return {
        "schema": SCHEMA,
        "model": model,
        "checkpoint": one.loaded.checkpoint.name,
        "task": one.loaded.task,
        "family": config.model.family,
        "sizes": sizes_of(config.model),
        "tokens": {side: [piece.to_json() for piece in pieces] for side, pieces in sides.items()},
        "input": dict(given.shown),
        "steps": [step.to_json(_shape(one, step.name)) for step in one.steps],
        "output": one.answer(),
        "edits": [dict(each) for each in one.edits],
        "notes": one.notes,
    }


def _sent(name: str, x: Tensor) -> Tensor:
    kind = torch.float16 if name.rpartition(".")[2] in MAPS else torch.float32
    limits = torch.finfo(kind)
    return x.detach().cpu().clamp(limits.min, limits.max).to(kind).contiguous().clone()


def _shape(one: ShownPass, name: str) -> list[int] | None:
    found = one.shown(name)
    return None if found is None else list(found.shape)
