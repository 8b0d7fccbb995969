"""What a real pass does: FLOPs as torch counts them, bytes as autograd keeps them, by part of the model."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode, flop_registry

from glassformer.config.model import ModelConfig
from glassformer.config.values import Choice

BATCH, LENGTH, TARGET = 2, 5, 4


def inputs(config: ModelConfig, dtype: torch.dtype, device: str = "cpu") -> tuple[Tensor, ...]:
    """Something that a model of this configuration takes."""
    torch.manual_seed(0)
    options = config.input.options
    shape = {
        "vectors": (BATCH, LENGTH, config.d_model),
        "image": (BATCH, options.get("channels", 3), options.get("size"), options.get("size")),
        "series": (BATCH, options.get("channels", 1), options.get("context")),
    }

    def tokens(vocabulary: int | None, length: int) -> Tensor:
        return torch.randint(vocabulary or 1, (BATCH, length), device=device)

    kind = config.input.kind
    source = (
        tokens(config.vocab_size, LENGTH) if kind == "tokens" else torch.randn(shape[kind], dtype=dtype, device=device)
    )
    if config.family != "encoder-decoder" or config.queries:
        return (source,)
    if config.output_vocab_size is None:
        return source, torch.randn(BATCH, TARGET, config.d_model, dtype=dtype, device=device)
    return source, tokens(config.output_vocab_size, TARGET)


def with_dropout(config: ModelConfig, rate: float) -> ModelConfig:
    """The same model with one rate of dropout everywhere (and stochastic depth where there is dropout)."""
    head = config.head
    if "dropout" in head.options:
        head = Choice(head.kind, {**head.options, "dropout": rate})
    depth = config.stochastic_depth if rate else 0.0
    return replace(
        config, dropout=rate, attention_dropout=None, feed_forward_dropout=None, stochastic_depth=depth, head=head
    )


@contextmanager
def paths(model: nn.Module) -> Iterator[list[str]]:
    """The path of the module that is running, at the end of the list."""
    path, handles = [""], []
    for name, module in model.named_modules():
        handles.append(module.register_forward_pre_hook(lambda *_, name=name: path.append(name)))
        handles.append(module.register_forward_hook(lambda *_: path.__delitem__(-1)))
    try:
        yield path
    finally:
        for handle in handles:
            handle.remove()


def box(path: str) -> str:
    """The box that a module belongs to: w_q is part of its attention, w_1 of its feed-forward network."""
    names = path.split(".")
    if "blocks" in names:
        return ".".join(names[: names.index("blocks") + 3])
    return ".".join(names[:2]) if names[0] in ("encoder", "decoder") else names[0]


def saved(model: nn.Module, given: tuple[Tensor, ...]) -> Counter[str]:
    """Bytes kept for the backward pass: distinct storages, less parameters, buffers and inputs."""
    known = {x.untyped_storage()._cdata for x in (*model.parameters(), *model.buffers(), *given)}
    alive, bytes_of = [], Counter[str]()
    with paths(model) as path:

        def pack(x: Tensor) -> Tensor:
            storage = x.untyped_storage()
            if storage._cdata not in known:
                known.add(storage._cdata)
                alive.append(x)  # a storage that is freed could give its address to another
                bytes_of[box(path[-1])] += storage.nbytes()
            return x

        with saved_tensors_hooks(pack, lambda x: x):
            model(*given)
    return bytes_of


class Products(TorchDispatchMode):
    """FLOPs of every matrix product, by torch's own formulas, charged to the box that is running."""

    def __init__(self) -> None:
        super().__init__()
        self.part, self.found = "", Counter[str]()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        count = flop_registry.get(func._overloadpacket)
        if count is not None:
            self.found[self.part] += count(*args, **(kwargs or {}), out_val=out)
        return out


def flops(model: nn.Module, given: tuple[Tensor, ...]) -> tuple[Counter[str], Counter[str]]:
    """FLOPs of the matrix products by box, forward and backward; `total` is FlopCounterMode's own.

    A node of the graph belongs to the box that was running when it was made: nodes are numbered in that order.
    """
    made: list[tuple[int, str]] = []
    ahead, back = Products(), Products()
    with paths(model) as path:

        def enter(*_: Any) -> None:
            ahead.part = box(path[-1])
            made.append((torch._C._autograd._get_sequence_nr(), ahead.part))

        handles = [m.register_forward_pre_hook(enter) for m in model.modules()]
        handles += [m.register_forward_hook(enter) for m in model.modules()]
        with ahead, FlopCounterMode(display=False) as forward:
            y = model(*given)
        for handle in handles:
            handle.remove()
    starts = [number for number, _ in made]

    def owner(node: Any) -> str:
        return made[bisect_right(starts, node._sequence_nr()) - 1][1]

    def charge(node: Any) -> None:
        part = owner(node)
        node.register_prehook(lambda *_: setattr(back, "part", part))

    for node in _nodes(y):
        charge(node)
    with back, FlopCounterMode(display=False) as backward:
        y.sum().backward()
    ahead.found["total"], back.found["total"] = forward.get_total_flops(), backward.get_total_flops()
    return ahead.found, back.found


def _nodes(y: Tensor) -> list[Any]:
    found, todo = {}, [y.grad_fn]
    while todo:
        node = todo.pop()
        if node is not None and id(node) not in found:
            found[id(node)] = node
            todo += [parent for parent, _ in node.next_functions]
    return [node for node in found.values() if hasattr(node, "_sequence_nr")]
