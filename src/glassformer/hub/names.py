"""Their tensors and ours: where each lies, and how one layout becomes the other; none missing, none left over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path

import torch
from torch import Tensor

from glassformer.config.model import ModelConfig
from glassformer.errors import FileError
from glassformer.hub.computed_buffers import Computed, agrees
from glassformer.hub.family import At, Family, Names
from glassformer.hub.header import Stored
from glassformer.hub.weights import StoredWeights

Shapes = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class Located:
    """Where each of our tensors lies; copies that must be equal; tensors left aside, and computed ones."""

    names: Names
    copies: Mapping[str, str]
    aside: tuple[str, ...] = ()
    computed: Mapping[str, Computed | None] = field(default_factory=dict)  # stored name → what it must hold


def locate_tensors(
    family: Family, config: ModelConfig, shapes: Shapes, stored: Mapping[str, Stored], path: Path
) -> Located:
    """Where each of our tensors (`shapes`: name → shape) lies among those stored, with or without prefix.

    Raises an error that names the first that is missing, left over or of another shape.
    """
    names, copies = family.names(config), family.copies(config)
    known = {key for at in names.values() for key in (at.key, *at.more)} | set(copies)
    today = _today(family, known, stored, path)
    chosen = _present(copies, today)
    located: Names = {}
    for ours, at in names.items():
        expected, keys = their_shape(shapes[ours], at), []
        for theirs in (at.key, *at.more):
            key = today.get(chosen.get(theirs, theirs), "")
            if not key:
                raise FileError("hub_missing", path=path, key=theirs, ours=ours)
            found = stored[key].shape
            if expected != found:
                raise FileError("hub_shape", path=path, key=key, shape=_shown(found), expected=_shown(expected))
            keys.append(key)
        located[ours] = replace(at, key=keys[0], more=tuple(keys[1:]))
    equal = {today[second]: today[chosen[first]] for second, first in copies.items() if second in today}
    equal = {second: first for second, first in equal.items() if second != first}
    used = {key for at in located.values() for key in (at.key, *at.more)} | set(equal)
    rest = {theirs: key for theirs, key in today.items() if key not in used}
    computed = {
        key: rule
        for theirs, key in rest.items()
        for pattern, rule in family.computed.items()
        if fnmatchcase(theirs, pattern)
    }
    aside = tuple(key for theirs, key in rest.items() if key not in computed and _matches(theirs, family.aside))
    for key in rest.values():
        if key not in computed and key not in aside:
            raise FileError("hub_left_over", path=path, key=key, family=family.name)
    return Located(located, equal, aside, computed)


def _today(family: Family, expected: set[str], stored: Mapping[str, Stored], path: Path) -> dict[str, str]:
    """Name of the family, with prefix and today's ending → name as stored."""
    found: dict[str, str] = {}
    for key in stored:
        name = key
        for old, new in family.older.items():
            if key.endswith(old):
                name = key.removesuffix(old) + new
        if not (name.startswith(family.prefix) or name in expected or _matches(name, family.aside)):
            name = family.prefix + name
        if name in found:
            raise FileError("hub_left_over", path=path, key=key, family=family.name)
        found[name] = key
    return found


def _present(copies: Mapping[str, str], today: Mapping[str, str]) -> dict[str, str]:
    """For each tensor with copies, the one to read: itself, or the first copy if it is not stored."""
    firsts = dict.fromkeys(copies.values())
    return {
        first: first if first in today else next((s for s, f in copies.items() if f == first and s in today), first)
        for first in firsts
    }


def _matches(key: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(key, pattern) for pattern in patterns)


def their_shape(shape: tuple[int, ...], at: At) -> tuple[int, ...]:
    """The shape that their tensor, or each of several, must have for this shape of ours."""
    if at.shape:
        return at.shape
    whole = (shape[0] * at.parts // (1 + len(at.more)), *shape[1:])
    return whole[::-1] if at.transposed else whole


def lent(weights: StoredWeights, at: At, form: Tensor) -> Tensor | None:
    """One of ours as it lies in the mapped file, without a copy; None if it has to be put together, or cast to the type
    of `form`, a tensor of our shape and type.

    A matrix that is stored transposed is turned by its strides. A part of one is not lent: it would have gaps between
    its rows, which fused optimisers do not expect.
    """
    if at.more or at.parts > 1 or weights.dtype(at.key) != form.dtype:
        return None
    x = weights.mapped(at.key)
    if x is None:
        return None
    return x.t() if at.transposed else x.view(form.shape)


def read_into(weights: StoredWeights, at: At, place: Tensor) -> None:
    """Read one of their tensors, a part of it, or several, into one of ours."""
    if at.more:
        for key, piece in zip((at.key, *at.more), place.chunk(1 + len(at.more)), strict=True):
            read_into(weights, replace(at, key=key, more=()), piece)
        return
    if at.shape:
        weights.read_into(at.key, place.view(at.shape))
        return
    some = slice(at.part * place.shape[0], (at.part + 1) * place.shape[0]) if at.parts > 1 else slice(None)
    if at.transposed:
        weights.read_into(at.key, place.t(), columns=some)
    else:
        weights.read_into(at.key, place, rows=some)


def to_theirs(at: At, parts: list[Tensor]) -> Tensor:
    """Our tensors, the parts of one of theirs in order → theirs."""
    whole = parts[0] if len(parts) == 1 else torch.cat(parts)
    if at.shape:
        return whole.reshape(at.shape)
    return whole.t().contiguous() if at.transposed else whole


def not_as_computed(weights: StoredWeights, config: ModelConfig, located: Located) -> str | None:
    """The first stored tensor that differs from what we compute instead."""
    for key, rule in located.computed.items():
        shape = weights.tensors[key].shape
        if rule is not None and not agrees(weights.read_any(key), rule(config, shape)):
            return key
    return None


def check_copies(weights: StoredWeights, located: Located) -> None:
    """Raises if a copy, such as a stored tied head, differs from its original."""
    for second, first in located.copies.items():
        if not weights.equal(first, second):
            raise FileError("hub_tied", path=weights.folder, key=second, other=first)


def _shown(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape)) or "1"
