"""One pass of a model as a request wants it: inputs and edits in; tensors, steps, masks and the answer out."""

from __future__ import annotations

import threading
import warnings
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from glassformer.decoding.step import evaluation_mode
from glassformer.errors import GlassformerWarning, InputError, suggest
from glassformer.explorer import fields
from glassformer.explorer.answers import answer
from glassformer.explorer.edits import Changes, changes_of
from glassformer.explorer.fields import Fields
from glassformer.explorer.given import ReadInput
from glassformer.explorer.inputs import read
from glassformer.explorer.steps import Made, shape_key, steps_of
from glassformer.layers.attention.mask import Mask
from glassformer.loading import Loaded
from glassformer.trace.catalogue import taps
from glassformer.trace.edit import edit
from glassformer.trace.record import record
from glassformer.trace.trace import Trace

REQUEST_KEYS = ("model", "checkpoint", "input", "edits", "wanted", "layers", "rows")
MAPS = ("scores", "weights")
MOST_BYTES = 400_000_000  # of the maps of one pass
KEPT = 8  # lists of steps of one model; those of a translator take 1.5 MB
_steps: WeakKeyDictionary[nn.Module, OrderedDict[tuple[Any, ...], list[Made]]] = WeakKeyDictionary()
_noting = threading.Lock()  # what Python does with a warning is one setting for all threads


@dataclass(frozen=True)
class ShownPass:
    """One pass: what was given, what was recorded, and what came out."""

    loaded: Loaded
    given: ReadInput
    trace: Trace
    output: Tensor
    steps: list[Made]
    changes: Changes
    edits: list[Fields]
    notes: list[str]

    def answer(self) -> dict[str, Any]:
        return answer(self.loaded, self.given, self.output)

    def shown(self, name: str) -> Tensor | None:
        """A recorded tensor as the page has it: scores are those before a cell was forbidden, which the mask says."""
        found = self.changes.raw.get(name, self.trace.tensors.get(name))
        return None if found is None else without_batch(name, found)


def without_batch(name: str, x: Tensor) -> Tensor:
    """A request is a batch of one, which the page need not know; a table of positions has no batch."""
    return x if name.partition("#")[0].endswith(".encoding") and x.dim() == 2 else x[0]


def run(loaded: Loaded, request: Fields) -> ShownPass:
    """The pass that a request describes."""
    with noted() as notes:
        given = read(loaded, fields.table("input", request.get("input", {})))
    edits = fields.tables(request, "edits")
    changes = changes_of(loaded.model, edits)
    names, layers = _wanted(loaded.model, fields.words(request, "wanted")), _layers(loaded, request)
    rows = fields.wholes(request, "rows")
    _refuse_too_much(loaded, given, names, layers)
    with (
        torch.no_grad(),
        evaluation_mode(loaded.model),
        edit(loaded.model, changes.by_name) as editor,
        record(loaded.model, names, layers=layers, rows=rows) as trace,
    ):
        output = given.run(loaded.model, given.inputs)
    return ShownPass(loaded, given, trace, output, known_steps(loaded, given), changes, edits, [*notes, *editor.notes])


def known_steps(loaded: Loaded, given: ReadInput) -> list[Made]:
    """The steps of a pass of this form; they are read off once."""
    known, key = _steps.setdefault(loaded.model, OrderedDict()), shape_key(given)
    if key not in known:
        with evaluation_mode(loaded.model):
            known[key] = steps_of(loaded.model, given)
        while len(known) > KEPT:
            known.popitem(last=False)
    return known[key]


@contextmanager
def noted() -> Iterator[list[str]]:
    """Warnings of the product become notes of the answer: nobody reads the server's terminal."""
    notes: list[str] = []
    with _noting, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", GlassformerWarning)
        yield notes
    notes += [str(each.message) for each in caught if isinstance(each.message, GlassformerWarning)]


def masks(one: ShownPass) -> Iterator[tuple[str, Tensor]]:
    """Which cells of each recorded map may be looked at: t s, or h t s where one was forbidden; for masked maps."""
    model: Any = one.loaded.model
    for name, x in one.trace.tensors.items():
        path, _, tap = name.rpartition(".")
        if tap not in MAPS or "#" in tap:
            continue
        stack, layer, box = path.split(".")[0], int(path.split(".")[2]), path.split(".")[3]
        t, s = x.shape[-2], x.shape[-1]
        allowed = torch.ones(t, s, dtype=torch.bool)
        if box == "self_attention":
            part = getattr(model, stack)
            rule = part.rules(Mask(causal=part.causal), s, s, torch.device("cpu"))[layer].dense(
                s, s, torch.device("cpu")
            )
            if rule is not None and s == t:
                allowed = rule.reshape(-1, s, s)[0]
        hidden = one.changes.forbidden.get(f"{path}.scores")
        if hidden is not None:
            allowed = allowed & ~hidden[0].cpu()  # h t s
        if not bool(allowed.all()):
            yield f"{name}.mask", allowed


def _wanted(model: nn.Module, patterns: list[str] | None) -> list[str] | None:
    """The patterns that fit this model; a plain name that fits nothing is an error, a pattern is left out."""
    if patterns is None:
        return None
    known, kept = taps(model), []
    for pattern in patterns:
        plain = pattern.partition("#")[0]
        if any(fnmatchcase(name, plain) for name in known):
            kept.append(plain)
        elif not set("*?[") & set(pattern):
            raise InputError("no_such_tap", name=pattern, hint=suggest(pattern, known))
    return kept


def _refuse_too_much(loaded: Loaded, given: ReadInput, names: list[str] | None, layers: list[int] | None) -> None:
    """Raises before a pass whose maps would fill the memory: t × s numbers per head, twice per attention."""
    config = loaded.config.model
    s, t = len(given.source), len(given.target or given.source)
    cells = {"encoder.self_attention": s * s, "decoder.self_attention": t * t, "decoder.cross_attention": t * s}
    numbers = 0
    for name in taps(loaded.model):
        stack, _, layer, box, tap, *_ = [*name.split("."), "", "", "", ""]
        if tap in MAPS and (layers is None or int(layer) in layers):
            wanted = names is None or any(fnmatchcase(name, each) for each in names)
            numbers += config.n_heads * cells[f"{stack}.{box}"] * wanted
    if 4 * numbers > MOST_BYTES:
        raise InputError("explorer_too_much", megabytes=4 * numbers // 10**6, most=MOST_BYTES // 10**6)


def _layers(loaded: Loaded, request: Fields) -> list[int] | None:
    wanted, config = fields.wholes(request, "layers"), loaded.config.model
    most = max(config.encoder_layers, config.decoder_layers)
    for layer in wanted or ():
        if layer >= most:
            raise InputError("no_such_selection", what="layers", value=layer, last=most - 1)
    return wanted
