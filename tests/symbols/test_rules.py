from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch.autograd.graph import saved_tensors_hooks

from glassformer.symbols.run import SymbolicRun
from glassformer.symbols.size import Dim

# Each rule beside the function itself: the bytes that autograd keeps, in storages that were not there before or are x.
CALLS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda x: x + x,
    "number": lambda x: 3.0 * x - 1.0,
    "quotient": lambda x: x / 2,
    "minus": lambda x: -x,
    "product": lambda x: x * (x + 1.0),
    "square": lambda x: x.square(),
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "rsqrt": torch.rsqrt,
    "softmax": lambda x: x.softmax(-1),
    "mean": lambda x: x.mean(1),
    "amax": lambda x: x.amax(1),
    "dropout": lambda x: F.dropout(x, 0.5, True),
    "no dropout": lambda x: F.dropout(x, 0.5, False),
    "swapped relu": lambda x: F.relu(x.transpose(0, 1)),
    "scores": lambda x: x @ x.transpose(-2, -1),
    "masked": lambda x: x.masked_fill(torch.arange(6) > 2, 0.0),
    "chosen": lambda x: torch.where(torch.arange(6) > 2, 0.0, x),
    "joined": lambda x: torch.cat([x, x], 1),
    "turned": lambda x: x * torch.arange(6).to(x.dtype).cos(),
    "scaled": lambda x: x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5),
}


def real_bytes(call: Callable[[Any], Any]) -> int:
    x = torch.rand(4, 5, 6, requires_grad=True) + 1.0
    seen: dict[int, int] = {}
    alive = []

    def pack(saved: torch.Tensor) -> torch.Tensor:
        storage = saved.untyped_storage()
        alive.append(saved)
        seen[storage.data_ptr()] = storage.nbytes()
        return saved

    with saved_tensors_hooks(pack, lambda saved: saved):
        call(x)
    return sum(seen.values())


def our_bytes(call: Callable[[Any], Any]) -> int:
    run = SymbolicRun()
    x = run.new((Dim("b", 4), Dim("t", 5), Dim("d_model", 6)), trained=True)
    with run:
        call(x)
    storages = {id(storage): storage for step in run.steps for _, storage in step.kept}
    total = 0
    for storage in storages.values():
        amount = 1
        for size in storage.size:
            amount *= int(size)
        total += amount
    return total


@pytest.mark.parametrize("name", CALLS)
def test_a_rule_keeps_what_autograd_keeps(name: str) -> None:
    assert our_bytes(CALLS[name]) == real_bytes(CALLS[name])


def test_a_product_is_two_flops_for_each_multiply_add() -> None:
    run = SymbolicRun()
    x = run.new((Dim("b", 4), Dim("t", 5), Dim("d_model", 6)), trained=True)
    with run:
        F.linear(x, run.new((Dim("d_ff", 8), Dim("d_model", 6)), trained=True, given=True))
    (product,) = run.steps[-1].products
    assert (product.formula, product.gradients) == ("2×b×t×d_model×d_ff", 2)


def test_autocast_makes_products_narrow_and_norms_wide() -> None:
    run = SymbolicRun(autocast=True)
    x = run.new((Dim("b", 4), Dim("t", 5), Dim("d_model", 6)), trained=True)
    weight = run.new((Dim("d_model", 6),), trained=True, given=True)
    with run:
        narrow = F.linear(x, run.new((Dim("d_model", 6), Dim("d_model", 6)), trained=True, given=True))
        wide = F.layer_norm(narrow, (6,), weight)
    assert (narrow.dtype, wide.dtype) == (torch.bfloat16, torch.float32)
    assert [str(storage.size[-1]) for _, storage in run.steps[-2].kept] == ["2", "2"]
