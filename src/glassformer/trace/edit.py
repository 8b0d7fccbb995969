"""Change a pass while it runs: ablate, scale, replace, patch from another trace. The weights stay as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase
from typing import Any

import torch
from torch import Tensor, nn

from glassformer.config.values import LARGEST_SIZE, size
from glassformer.errors import InputError, shown, suggest
from glassformer.trace.catalogue import taps
from glassformer.trace.trace import Trace
from glassformer.trace.watch import NamedObserver, watching

Change = Callable[[Tensor], Tensor]


def zero(head: int | None = None, row: int | None = None) -> Change:
    """Switch it off: all of it, or one head, or one row (query)."""
    return scale(0.0, head=head, row=row)


def scale(factor: float, head: int | None = None, row: int | None = None) -> Change:
    """Multiply it, or one head or row of it."""
    if not isinstance(factor, float | int):
        raise InputError("edit_not_a_change", name="gf.scale", given=shown(factor))
    return lambda x: _put(x, _part(x, head, row) * factor, head, row)


def replace(value: Tensor | float, head: int | None = None, row: int | None = None) -> Change:
    """Replace it with a tensor of the same shape, or with a number."""

    def change(x: Tensor) -> Tensor:
        part = _part(x, head, row)
        if not isinstance(value, Tensor | float | int):
            raise InputError("edit_not_a_change", name="gf.replace", given=shown(value))
        new = torch.as_tensor(value, dtype=x.dtype, device=x.device)
        if new.dim() and new.shape != part.shape:
            raise InputError("edit_shape", shape=tuple(new.shape), expected=tuple(part.shape))
        return _put(x, new.expand_as(part), head, row)

    return change


def patch(trace: Trace, name: str, head: int | None = None, row: int | None = None) -> Change:
    """Replace it with the tensor of another pass: activation patching."""
    if not isinstance(trace, Trace):
        raise InputError("edit_not_a_change", name="gf.patch", given=shown(trace))
    source = trace[name]

    def change(x: Tensor) -> Tensor:
        if source.shape != x.shape:
            raise InputError("edit_shape", shape=tuple(source.shape), expected=tuple(x.shape))
        return _put(x, _part(source.to(x), head, row), head, row)

    return change


def _index(x: Tensor, head: int | None, row: int | None) -> tuple[Any, ...]:
    """b h t …: heads are the second dimension, rows the last but one."""
    index: list[Any] = [slice(None)] * x.dim()
    for key, wanted, dimension in (("head", head, 1), ("row", row, x.dim() - 2)):
        if wanted is None:
            continue
        size(key, wanted, low=-LARGEST_SIZE)  # a whole number
        if (key == "head" and x.dim() != 4) or not -x.shape[dimension] <= wanted < x.shape[dimension]:
            raise InputError("edit_index", head=head, row=row, shape=tuple(x.shape))
        index[dimension] = wanted
    return tuple(index)


def _part(x: Tensor, head: int | None, row: int | None) -> Tensor:
    return x[_index(x, head, row)]


def _put(x: Tensor, part: Tensor, head: int | None, row: int | None) -> Tensor:
    if head is None and row is None:
        return part
    changed = x.clone()
    changed[_index(x, head, row)] = part
    return changed


class Editor(NamedObserver):
    """Applies changes by name. `notes` lists what else had to change."""

    def __init__(self, edits: Mapping[str, Change]) -> None:
        super().__init__()
        self.edits_by_pattern = edits
        self.notes: list[str] = []

    def changes(self, name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in self.edits_by_pattern)

    def asks(self, name: str) -> bool:
        return False  # every tensor that it can change is computed anyway

    def meet(self, name: str, x: Tensor) -> Tensor:
        for pattern, change in self.edits_by_pattern.items():
            if fnmatchcase(name, pattern):
                changed = change(x)
                if not isinstance(changed, Tensor):
                    raise InputError("edit_not_a_change", name=name, given=shown(changed))
                if changed.shape != x.shape:
                    raise InputError("edit_shape", shape=tuple(changed.shape), expected=tuple(x.shape))
                x = changed
        return x


@contextmanager
def edit(model: nn.Module, edits: Mapping[str, Change]) -> Iterator[Editor]:
    """Every pass of the model inside the `with` is changed: `{"decoder.blocks.2.cross_attention.heads": zero(head=3)}`.

    Names may be patterns. Changing scores or weights switches that layer to the reference kernel; `notes` says so.
    """
    known = taps(model)
    if not isinstance(edits, Mapping):
        raise InputError("edits_not_a_table", given=shown(edits))
    editor = Editor(edits)
    for pattern, change in edits.items():
        if not callable(change):
            raise InputError("edit_not_a_change", name=pattern, given=shown(change))
        found = [name for name in known if fnmatchcase(name, pattern)]
        if not found:
            raise InputError("no_such_tap", name=pattern, hint=suggest(pattern, known))
        inside = {name.rpartition(".")[0] for name in found if name.rpartition(".")[2] in ("scores", "weights")}
        editor.notes += [f"{path}: kernel=reference" for path in sorted(inside)]
    with watching(model, editor):
        yield editor
