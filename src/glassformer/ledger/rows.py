"""What a model holds, row by row: read off the model itself, built in symbols."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from torch import Tensor, nn

from glassformer.config.model import ModelConfig
from glassformer.layers.attention import MultiHeadAttention
from glassformer.layers.head import LanguageModelHead
from glassformer.ledger.groups import CONTAINERS, group_of, groups_of
from glassformer.ledger.row import NamedTensor, ParameterRow, within
from glassformer.models.in_symbols import InSymbols, in_symbols, named
from glassformer.models.plan import Box
from glassformer.symbols.run import SymbolicRun
from glassformer.symbols.size import Dim, values, written


def rows(config: ModelConfig) -> tuple[ParameterRow, ...]:
    """Every row of the parameter ledger, in the order of the data."""
    found, built = distinct_rows(config)
    return tuple(built[like].like(name) for name, like in found.everywhere(built))


def distinct_rows(config: ModelConfig) -> tuple[InSymbols, dict[str, ParameterRow]]:
    """The rows of the layers that differ, by name, and the model that says which layers they stand for."""
    found = in_symbols(config, SymbolicRun())
    model: Any = found.model
    shared = "embedding" if getattr(model, "target_embedding", None) is None else "target_embedding"
    return found, {row.name: row for row in _walk(model, "", shared)}


def rows_of_box(make: Callable[..., nn.Module], options: Mapping[str, Any]) -> tuple[ParameterRow, ...]:
    """The rows of one box by itself, as it is made at a prompt: `rows_of_box(FeedForward, {"d_model": 512, …})`."""
    with SymbolicRun():
        box = make(**named(Box(make, dict(options))))
    return tuple(_walk(box, "", "embedding"))


def _walk(module: nn.Module, path: str, shared: str) -> Iterator[ParameterRow]:
    """The rows of a box, or of what a container holds."""
    if not isinstance(module, CONTAINERS):
        yield from within(path, _box_rows(module, shared))
        return
    for name, child in module.named_children():
        yield from _walk(child, f"{path}.{name}" if path else name, shared)


def _box_rows(box: nn.Module, shared: str) -> Iterator[ParameterRow]:
    """The rows of one box, named from inside it; `shared` is whose matrix a tied head uses."""
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
    return written(reversed(shape) if isinstance(owner, nn.Linear) else shape)


def _text(size: int) -> str:
    return size.written if isinstance(size, Dim) else str(size)


def _size(box: nn.Module, size: int) -> int:
    """h·d_k is d_model in the paper, and is written so; any other width of heads is written as heads × size."""
    if not isinstance(box, MultiHeadAttention) or not isinstance(size, Dim) or "heads" not in size.written:
        return size
    d_model, n_heads = box.w_q.in_features, box.n_heads
    if "n_kv_heads" in size.written:
        if box.n_kv_heads != n_heads:
            return size
        size = n_heads * (size // box.n_kv_heads)
    return d_model if size == d_model else size
