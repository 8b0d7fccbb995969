"""The rows of the parameter ledger: tensors that belong together, by formula, read off the model built in symbols."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

from torch import Tensor, nn

from glassformer.config.model import ModelConfig
from glassformer.formula import evaluate_formula, in_numbers, symbols, total
from glassformer.layers.attention import MultiHeadAttention
from glassformer.layers.head import LanguageModelHead
from glassformer.ledger.groups import CONTAINERS, group_of, groups_of
from glassformer.models.in_symbols import InSymbols, in_symbols, named_sizes
from glassformer.models.parts import Box
from glassformer.symbols.run import SymbolicRun
from glassformer.symbols.size import Dim, product_text, values


class PartLocation(NamedTuple):
    """Where a part of a block is: its stack, its layer and its path inside the block."""

    stack: str
    layer: str
    inside: str


def part_location(path: str) -> PartLocation:
    """The location of a part by its path; a part outside the blocks has no stack."""
    stack, _, inside = path.partition(".blocks.")
    layer, _, inside = inside.partition(".")
    return PartLocation(stack, layer, inside) if inside else PartLocation("", "", path)


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

    name: str  # its path: "encoder.blocks.0.self_attention.qkv"
    kind: str  # what it is: the key of its name in words/
    own: tuple[NamedTensor, ...]  # its tensors, named from inside the box
    values: Mapping[str, int] = field(default_factory=dict)
    tied: str = ""  # the path of the tensor that it shares, if it has none of its own
    box: str = ""  # the path of the box

    @property
    def tensors(self) -> tuple[NamedTensor, ...]:
        """The same tensors under their names in the model."""
        return tuple(replace(t, name=_joined(self.box, t.name)) for t in self.own)

    @cached_property
    def formula(self) -> str:
        """The formula in symbols: of the parameters, or of the buffers if there are no parameters."""
        return total(self._terms)

    @property
    def numbers(self) -> str:
        """The formula in numbers; equal terms are combined."""
        return total(in_numbers(term, self.values) for term in self._terms)

    @property
    def _terms(self) -> list[str]:
        parameters = [tensor for tensor in self.own if not tensor.buffer]
        return _terms(parameters or self.own)

    @cached_property
    def parameters(self) -> int:
        return evaluate_formula(total(_terms(t for t in self.own if not t.buffer)), self.values)

    @property
    def trained(self) -> int:
        """Parameters that require a gradient: all of them, since fixed values are buffers."""
        return self.parameters

    @property
    def trained_tensors(self) -> int:
        return sum(not tensor.buffer for tensor in self.own)

    @cached_property
    def buffers(self) -> int:
        return evaluate_formula(total(_terms(t for t in self.own if t.buffer)), self.values)

    @property
    def symbols(self) -> tuple[str, ...]:
        """The symbols of its formula."""
        return symbols(self.formula)

    def inside(self, path: str) -> ParameterRow:
        """The same row below a path."""
        return replace(self, name=_joined(path, self.name), box=_joined(path, self.box))

    def like(self, name: str) -> ParameterRow:
        """The same row of an identical layer: only its name and its box differ."""
        _ = self.formula, self.parameters, self.buffers
        group = len(self.name) - len(self.box)  # the length of ".qkv" after the box
        return copy_with(self, name=name, box=name[: len(name) - group])

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The name of each tensor in the model → its shape in numbers."""
        return {t.name: tuple(evaluate_formula(size, self.values) for size in t.shape) for t in self.tensors}


@dataclass(frozen=True)
class Total:
    """A sum over rows."""

    parameters: int  # values in parameters, tied ones counted once
    trained: int  # those that require a gradient
    buffers: int  # registered tensors that are not trained

    @classmethod
    def of(cls, rows: Iterable[ParameterRow], times: Callable[[str], int] = lambda name: 1) -> Total:
        """`times`: how often a row of this name occurs, in identical layers."""
        parameters = trained = buffers = 0
        for row in rows:
            n = times(row.name)
            parameters, trained = parameters + n * row.parameters, trained + n * row.trained
            buffers += n * row.buffers
        return cls(parameters, trained, buffers)


T = TypeVar("T")


def copy_with(one: T, **changes: object) -> T:
    """A copy of a frozen value with some fields changed; cached properties are copied too.

    A model may have thousands of identical layers, whose cost is computed once.
    """
    copy: T = object.__new__(type(one))
    vars(copy).update(vars(one), **changes)
    return copy


def _terms(tensors: Iterable[NamedTensor]) -> list[str]:
    """One sum for each owner: w_q.weight and w_q.bias are one term."""
    owners = groupby(tensors, key=lambda tensor: tensor.name.rpartition(".")[0])
    return [total(tensor.formula for tensor in group) for _, group in owners]


def within(path: str, rows: Iterable[ParameterRow]) -> tuple[ParameterRow, ...]:
    """The same rows named from the outside: with the path in front."""
    return tuple(row.inside(path) for row in rows)


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path and name else path or name


def ledger_rows(config: ModelConfig) -> tuple[ParameterRow, ...]:
    """Every row of the parameter ledger, in the order of the data."""
    model, distinct = distinct_rows(config)
    return tuple(distinct[like].like(name) for name, like in model.everywhere(distinct))


def distinct_rows(config: ModelConfig) -> tuple[InSymbols, dict[str, ParameterRow]]:
    """The model, and the rows of its distinct layers by name; the model knows which layers equal them."""
    built = in_symbols(config, SymbolicRun())
    model: Any = built.model
    shared = "embedding" if getattr(model, "target_embedding", None) is None else "target_embedding"
    return built, {row.name: row for row in _walk(model, "", shared)}


def rows_of_box(make: Callable[..., nn.Module], options: Mapping[str, Any]) -> tuple[ParameterRow, ...]:
    """The rows of one box by itself, as it is made at a prompt: `rows_of_box(FeedForward, {"d_model": 512, …})`."""
    with SymbolicRun():
        box = make(**named_sizes(Box(make, dict(options))))
    return tuple(_walk(box, "", "embedding"))


def _walk(module: nn.Module, path: str, shared: str) -> Iterator[ParameterRow]:
    """The rows of a box, or of what a container holds."""
    if not isinstance(module, CONTAINERS):
        yield from within(path, _box_rows(module, shared))
        return
    for name, child in module.named_children():
        yield from _walk(child, f"{path}.{name}" if path else name, shared)


def _box_rows(box: nn.Module, shared: str) -> Iterator[ParameterRow]:
    """The rows of one box, named from inside it; `shared` is the path of the matrix that a tied head uses."""
    tensors: dict[str, list[NamedTensor]] = {}
    sizes: dict[str, int] = {}
    for name, x in _tensors(box):
        shape = tuple(_size(box, size) for size in x.shape)
        tensors.setdefault(group_of(type(box), name.partition(".")[0]).name, []).append(
            NamedTensor(name, tuple(map(_text, shape)), _formula(box, name, shape), buffer=not x.requires_grad)
        )
        sizes |= values(shape)
    for group in groups_of(type(box)):
        tied = shared if isinstance(box, LanguageModelHead) and box.weight is None and not group.name else ""
        if group.name in tensors or tied:
            yield ParameterRow(group.name, group.kind, tuple(tensors.get(group.name, ())), sizes, tied)


def _tensors(box: nn.Module) -> Iterator[tuple[str, Tensor]]:
    """Everything that a box holds, parameters first."""
    yield from box.named_parameters()
    yield from box.named_buffers()


def _formula(box: nn.Module, name: str, shape: tuple[int, ...]) -> str:
    """The product of its sizes. The paper writes W as d_in×d_out; torch stores it as d_out×d_in."""
    owner = box.get_submodule(name.rpartition(".")[0])
    return product_text(reversed(shape) if isinstance(owner, nn.Linear) else shape)


def _text(size: int) -> str:
    return size.written if isinstance(size, Dim) else str(size)


def _size(box: nn.Module, size: int) -> int:
    """h·d_k is d_model in the paper and written so; any other total width is written as heads × size."""
    if not isinstance(box, MultiHeadAttention) or not isinstance(size, Dim) or "heads" not in size.written:
        return size
    d_model, n_heads = box.w_q.in_features, box.n_heads
    if "n_kv_heads" in size.written:
        if box.n_kv_heads != n_heads:
            return size
        size = n_heads * (size // box.n_kv_heads)
    return d_model if size == d_model else size
