"""The present question of the page as a few lines of Python that give the same numbers, without the page."""

from __future__ import annotations

import json
from typing import Any

import torch
from torch import Tensor

from glassformer.errors import InputError
from glassformer.explorer import fields
from glassformer.explorer.fields import Fields
from glassformer.explorer.given import ReadInput, whole_pass
from glassformer.explorer.passes import ShownPass, run
from glassformer.explorer.shelf import Offered
from glassformer.explorer.written_edits import EditCode, written_edits
from glassformer.loading import Loaded

REQUEST_KEYS = ("model", "checkpoint", "input", "edits", "name", "index", "row")
PIECES_SHOWN = 12  # in the comment beside the ids of a text


def snippet(offered: Offered, loaded: Loaded, request: Fields) -> dict[str, Any]:
    """The code, and what it must print: `value` for one number, `shape` for several."""
    name, index = fields.optional_text(request, "name"), fields.wholes(request, "index") or []
    asked = {key: request[key] for key in ("input", "edits") if key in request}
    one = run(loaded, asked if name is None else asked | {"wanted": [name]})
    edits = written_edits(loaded.model, one.edits, name)
    shown = _answer(one, fields.whole(request, "row")) if name is None else _recorded(one, name, index)
    lines = [*_opening(offered, loaded, fields.optional_text(request, "checkpoint"))]
    lines += ["", *_input(one.given, fields.table("input", request.get("input", {})))]
    lines += [line for function in edits.functions for line in ("", "", *function)]
    lines += ["", "", *_pass(one.given, edits, name)] if edits.functions else ["", *_pass(one.given, edits, name)]
    code = "\n".join([*_imports(one.given, edits), "", *lines, *shown["lines"], "print(number)"]) + "\n"
    value: Tensor = shown["value"]
    single = value.dim() == 0 and bool(value.isfinite())  # JSON has no infinity
    return {
        "code": code,
        "value": float(value) if single else None,
        "shape": [*value.shape],
        "notes": one.notes,
    }


def _imports(given: ReadInput, edits: EditCode) -> list[str]:
    own = ["from glassformer.explorer.inputs import read"] if not _is_text(given) else []
    own += ["from glassformer.tap import unobserved"] if edits.unobserved else []
    return ["import torch", "", "import glassformer as gf", *own]


def _opening(offered: Offered, loaded: Loaded, checkpoint: str | None) -> list[str]:
    chosen = f", checkpoint={_text(checkpoint)}" if checkpoint else ""
    return [f"loaded = gf.load({_text(offered.spoken)}{chosen})", "model = loaded.model"]


def _is_text(given: ReadInput) -> bool:
    """Ids alone, which can be written out; pixels and series are read as the page reads them."""
    return given.run is whole_pass and not any(x.is_floating_point() for x in given.inputs)


def _input(given: ReadInput, asked: Fields) -> list[str]:
    if not _is_text(given):
        return [f"given = read(loaded, {_literal(asked)})"]
    sides = [given.source, given.target or []]
    names = ["source", "target"] if given.target is not None else ["tokens", "attended", "segments"]
    lines = []
    for name, x, side in zip(names, given.inputs, [*sides, []], strict=False):
        pieces = " ".join(piece.piece for piece in side[:PIECES_SHOWN]).replace("\n", " ")
        more = " …" if len(side) > PIECES_SHOWN else ""
        said = f"  # {pieces}{more}" if pieces and name != "attended" and x.dtype != torch.int32 else ""
        kind = "" if x.dtype in (torch.int64, torch.bool) else f", dtype={x.dtype}"
        lines.append(f"{name} = torch.tensor({x.tolist()}{kind}, device=loaded.device){said}")
    return lines


def _pass(given: ReadInput, edits: EditCode, name: str | None) -> list[str]:
    call = "given.run(model, given.inputs)"
    if _is_text(given):
        names = ["source", "target"] if given.target is not None else ["tokens", "attended", "segments"]
        call = f"model({', '.join(names[: len(given.inputs)])})"
    around = ["torch.no_grad()", *edits.contexts]
    around += [f"gf.record(model, {_text(name.partition('#')[0])}) as trace"] if name is not None else []
    before = [f"edits = {edits.table}"] if edits.table else []
    return [*before, f"with {', '.join(around)}:", f"    output = {call}"]


def _recorded(one: ShownPass, name: str, index: list[int]) -> dict[str, Any]:
    """One number of a recorded tensor, or what an index that is shorter leaves."""
    inner = one.shown(name)
    if inner is None:
        raise InputError("explorer_no_number", name=name, index=index, shape="–")
    if len(index) > inner.dim() or any(at >= size for at, size in zip(index, inner.shape, strict=False)):
        raise InputError("explorer_no_number", name=name, index=index, shape=[*inner.shape])
    at = ", ".join(map(str, index if inner.dim() == one.trace[name].dim() else [0, *index]))
    number = f"trace[{_text(name)}][{at}]" if at else f"trace[{_text(name)}]"
    value = inner[tuple(index)]
    return {"value": value, "lines": [f"number = {f'float({number})' if value.dim() == 0 else number}"]}


def _answer(one: ShownPass, row: int | None) -> dict[str, Any]:
    """What the model answers: the share of the likeliest token or class, or the numbers."""
    loaded, kind = one.loaded, one.loaded.config.model.head.kind
    x = one.output[0]
    if kind == "language_model":
        at = len(x) - 1 if row is None else row
        if at >= len(x):
            raise InputError("explorer_index", key="row", value=at, last=len(x) - 1)
        lines = [f"share, best = output[0, {at}].float().softmax(-1).max(-1)"]
        if int(x[at].argmax()) < loaded.vocabularies.target.vocab_size:  # a table may be larger than its vocabulary
            lines.append("print(loaded.vocabularies.target.piece(int(best)))")
        return {"value": x[at].float().softmax(-1).max(), "lines": [*lines, "number = float(share)"]}
    if kind == "classifier" and loaded.task != "features":
        if len(x) == 1:  # a single logit is that of the second of two classes
            return {"value": x.float().sigmoid()[0], "lines": ["number = float(output[0, 0].float().sigmoid())"]}
        lines = ["share, best = output[0].float().softmax(-1).max(-1)", "print(loaded.labels[int(best)])"]
        return {"value": x.float().softmax(-1).max(), "lines": [*lines, "number = float(share)"]}
    if one.given.restore is not None:
        value = torch.tensor(one.given.restore(x), dtype=torch.float64)
        return {"value": value, "lines": ["number = torch.tensor(given.restore(output[0]), dtype=torch.float64)"]}
    return {"value": x, "lines": ["number = output[0]"]}


def _text(value: str) -> str:
    """As Python writes it, in double quotes."""
    return json.dumps(value, ensure_ascii=False)


def _literal(value: object) -> str:
    """A value of JSON as a literal of Python."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_text(key)}: {_literal(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_literal, value)) + "]"
    return repr(value)
