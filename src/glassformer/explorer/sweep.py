"""How much each head matters: every head is switched off in turn, and the answer is compared with the answer before.

Attention alone is no explanation; this is the experiment that goes with it. How far two answers are apart:

    distribution   ½ Σᵢ |pᵢ − p′ᵢ|                  tokens, classes: the share of probability that has moved, 0 … 1
    numbers        |y − y′|                          a forecast: in the units in which the model reads the series
    objects        ½ Σᵢ |pᵢ − p′ᵢ| + Σⱼ |bⱼ − b′ⱼ| / 4   the class of a query and the four numbers of its box
    vectors        ‖x − x′‖ / ‖x‖                    a model without a head

Each row of the answer (a token, an hour, a query) has its own; the importance of a head is their mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from glassformer.decoding.step import evaluation_mode
from glassformer.errors import InputError, suggest
from glassformer.explorer import fields
from glassformer.explorer.edits import changes_of
from glassformer.explorer.fields import Fields
from glassformer.explorer.given import ReadInput
from glassformer.explorer.inputs import read
from glassformer.explorer.passes import noted
from glassformer.layers.head.objects import ObjectsHead
from glassformer.loading import Loaded
from glassformer.trace.catalogue import taps
from glassformer.trace.edit import edit

REQUEST_KEYS = ("model", "checkpoint", "input", "edits", "attention")
HEADS = ".heads"
MOST_NUMBERS = 20_000_000  # of the answers of one pass: so many heads are switched off side by side


def sweep(loaded: Loaded, request: Fields) -> dict[str, Any]:
    """The importance of the heads of one attention, or of all; other edits of the request stay in force."""
    model, edits = loaded.model, fields.tables(request, "edits")
    wanted = attentions(model, fields.optional_text(request, "attention"))
    with noted() as notes, torch.no_grad(), evaluation_mode(model):
        given = read(loaded, fields.table("input", request.get("input", {})))
        with edit(model, changes_of(model, edits).by_name):
            before = given.run(model, given.inputs)  # 1 …
        kind = kind_of(loaded)
        found = [_of_one(loaded, given, edits, name, before) for name in wanted]
    return {"measure": kind, "attentions": found, "notes": notes}


def attentions(model: nn.Module, wanted: str | None = None) -> list[str]:
    """The attentions of a model by their paths; or the one that is named, which must be among them."""
    known = [name.removesuffix(HEADS) for name in taps(model) if name.endswith(HEADS)]
    if wanted is not None and wanted not in known:
        raise InputError("no_such_tap", name=wanted, hint=suggest(wanted, known))
    return known if wanted is None else [wanted]


def apart(kind: str, before: Tensor, after: Tensor) -> Tensor:
    """How far answers, b …, are from the answer before, 1 …: b rows."""
    return MEASURES[kind](before.float(), after.float())


def kind_of(loaded: Loaded) -> str:
    """The measure that fits the head of the model; the pooled vector of a body is no distribution over classes."""
    if loaded.task == "features":
        return "vectors"
    kinds = {"language_model": "distribution", "classifier": "distribution", "regression": "numbers"}
    return (kinds | {"objects": "objects"}).get(loaded.config.model.head.kind, "vectors")


def _of_one(loaded: Loaded, given: ReadInput, edits: list[Fields], name: str, before: Tensor) -> dict[str, Any]:
    heads = loaded.config.model.n_heads
    side_by_side = max(1, MOST_NUMBERS // max(1, before.numel()))
    rows = [
        apart(kind_of(loaded), before, _without(loaded.model, given, edits, name, some))
        for some in _groups(heads, side_by_side)
    ]
    by_row = torch.cat(rows)  # h rows
    stack, _, layer, box = name.split(".")
    moved = {"moved": by_row.mean(-1).tolist(), "by_row": by_row.tolist()}
    return {"name": name, "stack": stack, "layer": int(layer), "box": box} | moved


def _without(model: nn.Module, given: ReadInput, edits: list[Fields], name: str, heads: range) -> Tensor:
    """The answers without each of these heads, in one batch: its row i has head i switched off."""
    changes = changes_of(model, edits)

    def off(x: Tensor) -> Tensor:  # b h t d_v
        changed = x.clone()
        for row, head in enumerate(heads):
            changed[row, head] = 0.0
        return changed

    changes.add(name + HEADS, off)
    inputs = tuple(x.expand(len(heads), *x.shape[1:]).contiguous() for x in given.inputs)
    with edit(model, changes.by_name):
        return given.run(model, inputs)


def _groups(count: int, size: int) -> Iterator[range]:
    return (range(first, min(first + size, count)) for first in range(0, count, size))


# --- measures: before 1 …, after b … → b rows ---


def _moved_probability(before: Tensor, after: Tensor) -> Tensor:
    if before.shape[-1] == 1:  # a single logit is that of the second of two classes
        return (before.sigmoid() - after.sigmoid()).abs()
    moved = (before.softmax(-1) - after.softmax(-1)).abs().sum(-1) / 2  # b t, or b
    return moved.reshape(len(after), -1)


def _moved_numbers(before: Tensor, after: Tensor) -> Tensor:
    return (before - after).abs().reshape(len(after), -1)


def _moved_objects(before: Tensor, after: Tensor) -> Tensor:
    (logits, boxes), (other, others) = ObjectsHead.split(before), ObjectsHead.split(after)
    return _moved_probability(logits, other) + (boxes - others).abs().mean(-1).reshape(len(after), -1)


def _moved_vectors(before: Tensor, after: Tensor) -> Tensor:
    length = before.norm(dim=-1).clamp(min=torch.finfo(before.dtype).tiny)
    return ((before - after).norm(dim=-1) / length).reshape(len(after), -1)


MEASURES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "distribution": _moved_probability,
    "numbers": _moved_numbers,
    "objects": _moved_objects,
    "vectors": _moved_vectors,
}
