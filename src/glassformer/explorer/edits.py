"""The interference of a request as changes of a pass: switch off, scale, replace, forbid or draw a cell, skip a layer.

Each becomes an edit of `gf.edit`, so a snippet of Python gives the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

import torch
from torch import Tensor, nn

from glassformer.config.values import one_of
from glassformer.errors import InputError, suggest
from glassformer.explorer import fields
from glassformer.explorer.fields import Fields
from glassformer.models.block import Block
from glassformer.tap import unobserved
from glassformer.trace.catalogue import taps
from glassformer.trace.edit import Change, replace, scale, zero

KINDS = ("zero", "scale", "replace", "forbid", "draw", "skip", "residual")
REQUEST_KEYS = ("name", "kind", "head", "row", "column", "factor", "value")


@dataclass
class Changes:
    """Edits of one pass; `raw` holds the scores as they were before a cell was forbidden, `forbidden` the cells."""

    by_name: dict[str, Change] = field(default_factory=dict)
    raw: dict[str, Tensor] = field(default_factory=dict)
    forbidden: dict[str, Tensor] = field(default_factory=dict)

    def add(self, name: str, change: Change) -> None:
        """Several changes of one tensor follow each other."""
        before = self.by_name.get(name)
        self.by_name[name] = change if before is None else (lambda x: change(before(x)))


def changes_of(model: nn.Module, edits: list[Fields]) -> Changes:
    """All edits of a request; raises for one that fits no tensor of the model."""
    found, known = Changes(), taps(model)
    for edit in edits:
        fields.known_keys(edit, REQUEST_KEYS)
        for key in ("head", "row", "column"):
            fields.whole(edit, key)
        kind, pattern = one_of("kind", fields.text(edit, "kind"), KINDS), fields.text(edit, "name")
        if kind == "forbid":  # named by its attention, or by one of the two maps
            pattern = pattern.removesuffix(".scores").removesuffix(".weights") + ".scores"
        names = [name for name in known if fnmatchcase(name, pattern)]
        if not names:
            raise InputError("no_such_tap", name=pattern, hint=suggest(pattern, known))
        for name in names:
            MAKERS[kind](found, model, name, edit)
    return found


def _zero(found: Changes, model: nn.Module, name: str, edit: Fields) -> None:
    found.add(name, _on(edit, zero, lambda part: torch.zeros_like(part)))


def _scale(found: Changes, model: nn.Module, name: str, edit: Fields) -> None:
    factor = fields.number("factor", edit.get("factor"))
    found.add(name, _on(edit, lambda head, row: scale(factor, head, row), lambda part: part * factor))


def _replace(found: Changes, model: nn.Module, name: str, edit: Fields) -> None:
    value = fields.number("value", edit.get("value"))
    found.add(name, _on(edit, lambda head, row: replace(value, head, row), lambda part: torch.full_like(part, value)))


def _on(edit: Fields, make: Callable[[int | None, int | None], Change], cell: Callable[[Tensor], Tensor]) -> Change:
    """The change of `gf` for heads and rows; where a column is named too, a change of those numbers alone."""
    head, row, column = (fields.whole(edit, key) for key in ("head", "row", "column"))
    if column is None:
        return make(head, row)

    def change(x: Tensor) -> Tensor:
        at = _index(x, head, row, column)
        changed = x.clone()
        changed[at] = cell(x[at])
        return changed

    return change


def _index(x: Tensor, head: int | None, row: int | None, column: int | None) -> tuple[Any, ...]:
    index: list[Any] = [slice(None)] * x.dim()
    for key, wanted, dimension in (("head", head, 1), ("row", row, x.dim() - 2), ("column", column, x.dim() - 1)):
        if wanted is None:
            continue
        if (key == "head" and x.dim() != 4) or wanted >= x.shape[dimension]:
            raise InputError("explorer_edit_index", key=key, value=wanted, shape=tuple(x.shape))
        index[dimension] = wanted
    return tuple(index)


def _forbid(found: Changes, model: nn.Module, name: str, edit: Fields) -> None:
    """A cell, a row or a column that may not be looked at: its score is hidden, and its weight is exactly 0."""
    head, row, column = (fields.whole(edit, key) for key in ("head", "row", "column"))
    hidden, weights = found.forbidden, name.removesuffix("scores") + "weights"

    def hide(x: Tensor) -> Tensor:
        found.raw.setdefault(name, x.detach())
        cells = hidden.get(name, torch.zeros_like(x, dtype=torch.bool)).clone()
        cells[_index(x, head, row, column)] = True
        hidden[name] = cells
        return x.masked_fill(cells, torch.finfo(x.dtype).min / 2)

    found.add(name, hide)
    found.add(weights, lambda x: x.masked_fill(hidden[name], 0.0))


def _draw(found: Changes, model: nn.Module, name: str, edit: Fields) -> None:
    """One weight is set, and the others of its row share what is left, in their old proportions."""
    if not name.endswith(".weights"):
        raise InputError("explorer_draw", name=name)
    value = fields.number("value", edit.get("value"))
    head, row, column = (fields.whole(edit, key) for key in ("head", "row", "column"))

    def change(x: Tensor) -> Tensor:
        chosen = torch.zeros_like(x, dtype=torch.bool)
        chosen[_index(x, head, row, column)] = True
        others = x.masked_fill(chosen, 0.0)
        left = (1.0 - value * chosen.sum(-1, keepdim=True)).clamp(min=0.0)
        shared = others * left / others.sum(-1, keepdim=True).clamp(min=torch.finfo(x.dtype).tiny)
        drawn = torch.where(chosen, torch.full_like(x, value), shared)
        return torch.where(chosen.any(-1, keepdim=True), drawn, x)

    found.add(name, change)


def _skip(found: Changes, model: nn.Module, name: str, edit: Fields) -> None:
    """A layer without effect: what leaves it is what entered."""
    stack, blocks, number, *tap = [*name.split("."), "", ""]
    if (blocks, tap) != ("blocks", ["output", "", ""]):
        raise InputError("explorer_skip", name=name)
    before = f"{stack}.input" if number == "0" else f"{stack}.blocks.{int(number) - 1}.output"
    kept: dict[str, Tensor] = {}

    def keep(x: Tensor) -> Tensor:
        kept["x"] = x
        return x

    found.add(before, keep)
    found.add(name, lambda x: kept["x"])


def _residual(found: Changes, model: nn.Module, name: str, edit: Fields) -> None:
    """A sub-layer whose input is not added: only what it computed goes on."""
    path, _, tap = name.rpartition(".")
    block: Any = model.get_submodule(path)
    if not isinstance(block, Block) or block.norm_order == "parallel":
        raise InputError("explorer_residual", name=name)
    part = {"after_self_attention": "self_attention", "after_cross_attention": "cross_attention"}.get(
        tap, "feed_forward"
    )
    norm = getattr(block, f"{part}_norm")
    kept: dict[str, Tensor] = {}

    def keep(x: Tensor) -> Tensor:
        kept["x"] = x
        return x

    def change(x: Tensor) -> Tensor:
        if block.norm_order == "pre":
            return kept["x"]
        with unobserved():
            return norm.forward(kept["x"])

    found.add(f"{path}.{part}.output", keep)
    found.add(name, change)


MAKERS: dict[str, Callable[[Changes, nn.Module, str, Fields], None]] = {
    "zero": _zero,
    "scale": _scale,
    "replace": _replace,
    "forbid": _forbid,
    "draw": _draw,
    "skip": _skip,
    "residual": _residual,
}
