"""A row of the ledger: tensors that belong together, by formula."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby

from glassformer.formula import evaluate, in_numbers, symbols, total


@dataclass(frozen=True)
class NamedTensor:
    """One tensor: its name in the module, its shape in symbols, and the product as people write it."""

    name: str
    shape: tuple[str, ...]
    formula: str
    buffer: bool = False


@dataclass(frozen=True)
class ParameterRow:
    """One line of the ledger: tensors that belong together, with one formula."""

    name: str  # where it is: "encoder.blocks.0.self_attention.qkv"
    kind: str  # what it is: the key of its name in words/
    tensors: tuple[NamedTensor, ...]
    values: Mapping[str, int] = field(default_factory=dict)
    tied: str = ""  # the path of the tensor that it shares instead of holding its own

    @cached_property
    def formula(self) -> str:
        """In symbols: the parameters, or the buffers of a row that has no parameters."""
        return total(self._terms)

    @property
    def numbers(self) -> str:
        """In numbers: terms that have become equal are written once."""
        return total(in_numbers(term, self.values) for term in self._terms)

    @property
    def _terms(self) -> list[str]:
        parameters = [tensor for tensor in self.tensors if not tensor.buffer]
        return _terms(parameters or self.tensors)

    @cached_property
    def parameters(self) -> int:
        return evaluate(total(_terms(t for t in self.tensors if not t.buffer)), self.values)

    @property
    def trained(self) -> int:
        """Those that require a gradient: every parameter, since what is fixed is a buffer."""
        return self.parameters

    @cached_property
    def buffers(self) -> int:
        return evaluate(total(_terms(t for t in self.tensors if t.buffer)), self.values)

    @property
    def symbols(self) -> tuple[str, ...]:
        """The symbols of its formula."""
        return symbols(self.formula)

    def inside(self, path: str) -> ParameterRow:
        """The same row below a path. What it holds is not computed again: a stack has thousands of equal layers."""
        tensors = tuple(NamedTensor(_joined(path, t.name), t.shape, t.formula, t.buffer) for t in self.tensors)
        moved = ParameterRow(_joined(path, self.name), self.kind, tensors, self.values, self.tied)
        vars(moved).update(formula=self.formula, parameters=self.parameters, buffers=self.buffers)
        return moved

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Name of each tensor, relative to the box that declared the row → its shape in numbers."""
        return {t.name: tuple(evaluate(size, self.values) for size in t.shape) for t in self.tensors}


def _terms(tensors: Iterable[NamedTensor]) -> list[str]:
    """One sum for each owner: w_q.weight and w_q.bias are one term."""
    owners = groupby(tensors, key=lambda tensor: tensor.name.rpartition(".")[0])
    return [total(tensor.formula for tensor in group) for _, group in owners]


def within(path: str, rows: Iterable[ParameterRow]) -> tuple[ParameterRow, ...]:
    """The same rows as seen from the box around them: names and tensors get the path in front."""
    return tuple(row.inside(path) for row in rows)


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path and name else path or name
