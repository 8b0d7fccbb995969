"""Two questions side by side: two texts, models, checkpoints or kinds of position, and what lies between them.

Each pass runs while only its own model is locked, so two requests that name the same two models never wait for each
other. The difference is always B − A.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from glassformer.comparison.difference import compare_tap, parting
from glassformer.comparison.distance import distance, finite_or_none
from glassformer.comparison.report import Comparison
from glassformer.errors import InputError
from glassformer.explorer import fields
from glassformer.explorer.alignment import Alignment, align, matched
from glassformer.explorer.answer_rows import AnswerTable, answers_of, in_one_table
from glassformer.explorer.fields import Fields
from glassformer.explorer.passes import MAPS, masks, run
from glassformer.explorer.payload import as_bytes
from glassformer.explorer.pieces import Piece
from glassformer.explorer.positions import with_position
from glassformer.explorer.shelf import Offered
from glassformer.explorer.sweep import attentions
from glassformer.explorer.time_limit import limited
from glassformer.loading import Loaded
from glassformer.trace.catalogue import taps

REQUEST_KEYS = ("a", "b")
QUESTION_KEYS = ("model", "checkpoint", "position", "input", "edits", "attention", "head")
LAYERS = r"blocks\.(\d+)\.(?:after_self_attention|after_cross_attention|output)"
STREAM = re.compile(rf"^(encoder|decoder)\.(?:input|output|{LAYERS})$")
UseModel = Callable[[Fields], AbstractContextManager[tuple[Offered, Loaded]]]


@dataclass(frozen=True)
class ComparedPass:
    """One pass with everything that is asked of its model, so that the model may go on to the next request."""

    model: str
    checkpoint: str
    position: str
    trained_position: str
    task: str
    reads: str  # tokens, image, series
    source: list[Piece]
    target: list[Piece] | None
    text: str
    unseen: list[str]
    notes: list[str]
    attentions: list[str]
    heads: int
    attention: str
    head: int
    tensors: dict[str, Tensor]  # all but the maps, in the order of the pass
    map: Tensor  # t s
    mask: Tensor | None  # t s
    answers: AnswerTable

    def names(self, tap: str, *, columns: bool = False) -> list[str]:
        """The pieces along the rows of a tensor of the stream, or along the columns of a map."""
        of_source = self.target is None or tap.startswith("encoder") or (columns and tap.endswith("cross_attention"))
        return [piece.piece for piece in (self.source if of_source or self.target is None else self.target)]

    def to_json(self) -> dict[str, Any]:
        own = ("model", "checkpoint", "position", "trained_position", "task", "text", "unseen", "notes")
        told = {key: getattr(self, key) for key in own}
        map_ = {key: getattr(self, key) for key in ("attentions", "heads", "attention", "head")}
        pieces = {"rows": self.names(self.attention), "columns": self.names(self.attention, columns=True)}
        pieces |= {stack: self.names(stack) for stack in ("encoder", "decoder")}
        return {**told, **map_, **pieces, "answer": self.answers.to_json()}


def compared(use: UseModel, request: Fields) -> bytes:
    """Both maps and their difference as safetensors; `__metadata__.comparison` says everything else."""
    for key in REQUEST_KEYS:
        if key not in request:
            raise InputError("explorer_missing", key=key)
    a, b = (fields.table(key, request[key]) for key in REQUEST_KEYS)
    one = _side(use, a, None)
    other = _side(use, b, one)
    words = one.reads == other.reads == "tokens"
    maps, cells = _maps(one, other, words)
    found = {
        "a": one.to_json(),
        "b": other.to_json(),
        "cells": cells,
        "answers": _answers(one, other, words),
        "stream": _stream(one, other, words),
        "verdict": _verdict(one, other),
    }
    return as_bytes(maps, {"comparison": json.dumps(found, ensure_ascii=False)})


def _side(use: UseModel, question: Fields, like: ComparedPass | None) -> ComparedPass:
    """One pass. `like`: where no attention is named, the one nearest to that of the other side."""
    fields.known_keys(question, QUESTION_KEYS)
    with use(question) as (offered, trained):
        loaded = with_position(trained, fields.optional_text(question, "position"))
        known, heads = attentions(loaded.model), loaded.config.model.n_heads
        attention = _attention(loaded, question, like, known)
        head = fields.whole(question, "head")
        if head is None:
            head = 0 if like is None else min(like.head, heads - 1)
        if head >= heads:
            raise InputError("explorer_index", key="head", value=head, last=heads - 1)
        weights = f"{attention}.weights"
        light = [name for name in taps(loaded.model) if name.rpartition(".")[2] not in MAPS]
        asked = {key: question[key] for key in ("input", "edits") if key in question}
        with limited(loaded.model):
            one = run(loaded, {**asked, "wanted": [*light, weights]})
        tensors = {name: x.detach().cpu() for name, x in one.trace.tensors.items()}
        mask = dict(masks(one)).get(f"{weights}.mask")
        text = str(one.given.shown.get("text", ""))
        return ComparedPass(
            model=offered.name,
            checkpoint=loaded.checkpoint.name,
            position=loaded.config.model.position.kind,
            trained_position=trained.config.model.position.kind,
            task=loaded.task,
            reads=loaded.config.model.input.kind,
            source=one.given.source,
            target=one.given.target,
            text=text,
            unseen=loaded.unseen([text])[0] if text else [],
            notes=one.notes,
            attentions=known,
            heads=heads,
            attention=attention,
            head=head,
            map=tensors.pop(weights)[0, head].float().clone(),
            mask=mask if mask is None or mask.dim() == 2 else mask[head],
            tensors=tensors,
            answers=answers_of(one),
        )


def _attention(loaded: Loaded, question: Fields, like: ComparedPass | None, known: list[str]) -> str:
    """The one that is named; else the nearest to the other side's; else what says most, that between the stacks."""
    wanted = fields.optional_text(question, "attention")
    if wanted is not None:
        return attentions(loaded.model, wanted)[0]
    if like is None:
        return next((name for name in reversed(known) if name.endswith("cross_attention")), known[0])
    stack, _, layer, box = like.attention.split(".")

    def far(name: str) -> tuple[bool, bool, int]:
        own_stack, _, own_layer, own_box = name.split(".")
        return own_box != box, own_stack != stack, abs(int(own_layer) - int(layer))

    return min(known, key=far)


def _maps(a: ComparedPass, b: ComparedPass, words: bool) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Both maps, and B − A of the cells that both have. `cells`: which rows and columns these are."""
    rows = align(a.names(a.attention), b.names(b.attention), words=words)
    columns = align(
        a.names(a.attention, columns=True),
        b.names(b.attention, columns=True),
        words=words,
    )
    maps = {"a": a.map, "b": b.map}
    maps |= {f"{key}.mask": side.mask for key, side in (("a", a), ("b", b)) if side.mask is not None}
    largest = None
    if rows.shared and columns.shared:
        mine, yours = (_cells(rows.rows[i], columns.rows[i]) for i in (0, 1))
        maps["difference"] = b.map[yours] - a.map[mine]
        largest = divmod(int(maps["difference"].abs().argmax()), len(columns.shared))
        if a.mask is not None and b.mask is not None:
            maps["difference.mask"] = a.mask[mine] | b.mask[yours]
    sent = {name: (x.to(torch.uint8) if x.dtype == torch.bool else x).contiguous() for name, x in maps.items()}
    return sent, {"rows": _shared(rows), "columns": _shared(columns), "largest": largest}


def _cells(rows: list[int], columns: list[int]) -> tuple[list[list[int]], list[int]]:
    return [[row] for row in rows], columns


def _shared(alignment: Alignment) -> dict[str, Any]:
    return {"how": alignment.how, "pairs": [list(pair) for pair in alignment.shared]}


def _answers(a: ComparedPass, b: ComparedPass, words: bool) -> dict[str, Any]:
    rows = align(a.names("head"), b.names("head"), words=words)
    return {"how": rows.how, **in_one_table(a.answers, b.answers, rows)}


# --- how far the streams lie apart ---


def _stream(a: ComparedPass, b: ComparedPass, words: bool) -> list[dict[str, Any]]:
    """Every tensor of the residual stream, in the order of the pass; those that only one of the two has as well."""
    mine, yours = ([name for name in side.tensors if STREAM.match(name)] for side in (a, b))
    pairs = matched(mine, yours)
    return [_apart(mine[i] if i is not None else yours[j or 0], a, b, words) for i, j in pairs]


def _apart(tap: str, a: ComparedPass, b: ComparedPass, words: bool) -> dict[str, Any]:
    """`why` says why there is no distance: a layer is missing, the widths differ, or no row belongs to another."""
    one, other = a.tensors.get(tap), b.tensors.get(tap)
    told: dict[str, Any] = {"tap": tap, "why": "", "relative": None, "cosine": None, "by_row": []}
    if one is None or other is None:
        return told | {"why": "only_b" if one is None else "only_a"}
    if one.shape[-1] != other.shape[-1]:
        return told | {"why": "width"}
    rows = align(a.names(tap), b.names(tap), words=words)
    if not rows.shared:
        return told | {"why": "rows"}
    mine, yours = rows.rows
    return told | {"rows": [list(pair) for pair in rows.shared]} | distance(one[0, mine], other[0, yours]).to_json()


def _verdict(a: ComparedPass, b: ComparedPass) -> dict[str, Any] | None:
    """The first tensor that differs, as `glassformer compare` names it; None for texts of different lengths.

    Two translations of one text may differ in length: then the encoder alone is compared.
    """
    if len(a.source) != len(b.source):
        return None
    shapes = [{name: tuple(x.shape) for name, x in side.tensors.items()} for side in (a, b)]
    both = [name for name, shape in shapes[0].items() if shapes[1].get(name) == shape]
    found = Comparison(
        a=a.model,
        b=b.model,
        tolerance=0.0,
        matched=False,
        inputs=(1, len(a.source)),
        counts=(len(shapes[0]), len(shapes[1])),
        taps=tuple(compare_tap(name, a.tensors[name], b.tensors[name]) for name in both),
        parting=parting(*shapes),
    )
    first = found.first
    told = None if first is None else {"tap": first.tap, "shape": list(first.shape), "before": found.taps.index(first)}
    largest = None if first is None else finite_or_none(first.largest)
    return {"identical": found.identical, "taps": len(found.taps), "first": told, "largest": largest}
