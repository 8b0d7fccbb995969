"""The steps of a pass, for all layers: what was computed, by which formula, and which line of source computed it.

Formulas are read off a pass that ran, as in `glassformer trace`; they do not depend on the numbers, so a pass over a
few tokens gives them for texts of any length.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from glassformer.explorer.given import ReadInput
from glassformer.symbols.run import Step
from glassformer.tap import tap
from glassformer.trace.labels import Label, labels
from glassformer.trace.steps import Steps, stepping
from glassformer.trace.watch import NamedObserver, watching

HOME = Path(__file__).parents[1]
PATCHES = {  # what `labels` writes for inputs that are no tokens, as a reader would write it
    "cat(…)": "[class, patches(X) W + b]",
    "F.unfold(X) Wᵀ": "patches(X) W",
    "flatten(unfold(X)) Wᵀ": "patches(X) W",
    "flatten(unfold(F.pad(X))) Wᵀ": "patches(X) W",
    "repeat(weight)": "queries",
}
OBJECTS = {"logits": "logits = y W + b", "boxes": "boxes = σ(max(0, y W_1 + b_1) W_2 + b_2)"}  # `ObjectsHead`
ENOUGH = 12  # tokens: a kernel for very short texts computes up to 8 by another formula


@dataclass(frozen=True)
class Line:
    """A line of the product's own source."""

    file: str  # below the package: layers/attention/kernel.py
    line: int

    def to_json(self) -> dict[str, Any]:
        return {"file": self.file, "line": self.line}


@dataclass(frozen=True)
class Made:
    """One step: its key, the name of its tensor, its formula, the key of its sentence, and where it is computed."""

    key: str
    name: str
    formula: str
    says: str
    source: Line | None

    @property
    def path(self) -> str:
        return self.name.partition("#")[0].rpartition(".")[0]

    def to_json(self, shape: list[int] | None) -> dict[str, Any]:
        parts = self.name.split(".")
        inside = len(parts) > 2 and parts[1] == "blocks"
        return {
            "key": self.key,
            "name": self.name,
            "formula": self.formula,
            "says": self.says,
            "path": self.path,
            "layer": int(parts[2]) if inside else None,
            "stack": parts[0] if parts[0] in ("encoder", "decoder") else None,
            "shape": shape,
            "source": None if self.source is None else self.source.to_json(),
        }


class TapLines(NamedObserver):
    """Notes where each tensor is tapped: the line of the caller of `tap`."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, Line] = {}

    def meet(self, name: str, x: Tensor) -> Tensor:
        frame: Any = sys._getframe()
        while frame is not None and frame.f_code is not tap.__code__:
            frame = frame.f_back
        if frame is not None and frame.f_back is not None:
            self.found.setdefault(name, line_of(frame.f_back))
        return x


def line_of(frame: Any) -> Line:
    path = Path(frame.f_code.co_filename)
    inside = path.is_relative_to(HOME)
    return Line(path.relative_to(HOME).as_posix() if inside else path.name, frame.f_lineno)


def steps_of(model: nn.Module, given: ReadInput) -> list[Made]:
    """All steps of a pass, in its order: every layer of every stack."""
    lines = TapLines()
    with torch.no_grad(), watching(model, lines), stepping(model) as steps, _input_named(model, steps):
        given.run(model, tuple(map(_short, given.inputs)))
    return [
        Made(label.key, label.tap, _readable(label.formula), label.says, lines.found.get(label.tap.partition("#")[0]))
        for label in every_label(model, steps)
    ]


class Symbol:
    """A word of a formula, written as it is."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __format__(self, _: str) -> str:
        return self.name


@contextmanager
def _input_named(model: nn.Module, steps: Steps) -> Iterator[None]:
    """Pixels or values that enter the model are called X in formulas: what was done to them before is no step of it."""

    def enter(_: nn.Module, given: tuple[Any, ...]) -> None:
        for x in given:
            if isinstance(x, Tensor) and x.is_floating_point():
                steps.made[id(x)] = Step("to", (Symbol("X"),), x, "")  # `to` is not shown: only the symbol is

    handle = model.register_forward_pre_hook(enter)
    try:
        yield
    finally:
        handle.remove()


def every_label(model: nn.Module, steps: Steps) -> Iterator[Label]:
    """The labels of all layers in the order of the pass; a layer's own are those of the reading of that layer."""
    layers = {_layer(tapped.name) for tapped in steps.taps} - {None}
    read: dict[tuple[int, str], list[Label]] = {}
    for layer in sorted({0, *layers}):  # type: ignore[type-var]
        assert layer is not None
        for label in labels(model, steps, layer):
            own = _layer(label.tap)
            if own == layer or (own is None and layer == 0):
                read.setdefault((layer, label.tap), []).append(label)
    for tapped in steps.taps:
        found = read.get((_layer(tapped.name) or 0, tapped.name), [])
        yield from found
        if not found and tapped.path == "head":  # a head that `labels` has no words for
            yield Label(
                f"object_{tapped.tap}", tapped.name, OBJECTS.get(tapped.tap, tapped.tap), f"object_{tapped.tap}"
            )


def _readable(formula: str) -> str:
    for written, read in PATCHES.items():
        formula = formula.replace(written, read)
    return formula


def _layer(name: str) -> int | None:
    parts = name.split(".")
    return int(parts[2]) if len(parts) > 2 and parts[1] == "blocks" else None


def _short(x: Tensor) -> Tensor:
    """Ids are cut to a few tokens; images and series have one size."""
    return x[:, :ENOUGH] if x.dim() == 2 and not x.is_floating_point() else x


def shape_key(given: ReadInput) -> tuple[Any, ...]:
    """What the formulas depend on: how many inputs there are, and how long they are if they are short."""
    return tuple(tuple(_short(x).shape) for x in given.inputs)
