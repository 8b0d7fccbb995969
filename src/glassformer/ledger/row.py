"""A row of the ledger: tensors that belong together, by formula."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from typing import TypeVar

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
    own: tuple[NamedTensor, ...]  # its tensors, named from inside the box
    values: Mapping[str, int] = field(default_factory=dict)
    tied: str = ""  # the path of the tensor that it shares instead of holding its own
    box: str = ""  # the path of the box

    @property
    def tensors(self) -> tuple[NamedTensor, ...]:
        """The same tensors under their names in the model."""
        return tuple(replace(t, name=_joined(self.box, t.name)) for t in self.own)

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
        parameters = [tensor for tensor in self.own if not tensor.buffer]
        return _terms(parameters or self.own)

    @cached_property
    def parameters(self) -> int:
        return evaluate(total(_terms(t for t in self.own if not t.buffer)), self.values)

    @property
    def trained(self) -> int:
        """Those that require a gradient: every parameter, since what is fixed is a buffer."""
        return self.parameters

    @cached_property
    def buffers(self) -> int:
        return evaluate(total(_terms(t for t in self.own if t.buffer)), self.values)

    @property
    def symbols(self) -> tuple[str, ...]:
        """The symbols of its formula."""
        return symbols(self.formula)

    def inside(self, path: str) -> ParameterRow:
        """The same row below a path."""
        return replace(self, name=_joined(path, self.name), box=_joined(path, self.box))

    def like(self, name: str) -> ParameterRow:
        """The row of this name in a layer that is like this one's: all but its place is known already."""
        _ = self.formula, self.parameters, self.buffers
        group = len(self.name) - len(self.box)  # of ".qkv" behind the box
        return copied(self, name=name, box=name[: len(name) - group])

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The name of each tensor in the model → its shape in numbers."""
        return {t.name: tuple(evaluate(size, self.values) for size in t.shape) for t in self.tensors}


@dataclass(frozen=True)
class Total:
    """A sum over rows."""

    parameters: int  # values of nn.Parameter, tied ones once
    trained: int  # those that require a gradient
    buffers: int  # registered tensors that are not trained

    @classmethod
    def of(cls, rows: Iterable[ParameterRow], times: Callable[[str], int] = lambda name: 1) -> Total:
        """`times`: how often a row of this name is there, in layers that are alike."""
        parameters = trained = buffers = 0
        for row in rows:
            n = times(row.name)
            parameters, trained = parameters + n * row.parameters, trained + n * row.trained
            buffers += n * row.buffers
        return cls(parameters, trained, buffers)


T = TypeVar("T")


def copied(one: T, **changes: object) -> T:
    """A copy of a frozen value with some fields changed, and with what was computed from the others.

    A model may have thousands of equal layers: each is a copy of one that is complete.
    """
    copy: T = object.__new__(type(one))
    vars(copy).update(vars(one), **changes)
    return copy


def _terms(tensors: Iterable[NamedTensor]) -> list[str]:
    """One sum for each owner: w_q.weight and w_q.bias are one term."""
    owners = groupby(tensors, key=lambda tensor: tensor.name.rpartition(".")[0])
    return [total(tensor.formula for tensor in group) for _, group in owners]


def within(path: str, rows: Iterable[ParameterRow]) -> tuple[ParameterRow, ...]:
    """The same rows as seen from the box around them: names and tensors get the path in front."""
    return tuple(row.inside(path) for row in rows)


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path and name else path or name
