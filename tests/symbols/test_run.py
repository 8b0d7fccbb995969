from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from glassformer.errors import InputError
from glassformer.layers.feed_forward import FeedForward
from glassformer.layers.norm import RMSNorm
from glassformer.symbols.run import Step, SymbolicRun
from glassformer.symbols.size import Dim
from glassformer.symbols.tensor import Symbolic
from glassformer.tap import observed

SIZES = {"d_model": Dim("d_model", 6), "d_ff": Dim("d_ff", 8)}


def stream(run: SymbolicRun) -> Symbolic:
    return run.new((Dim("b", 2), Dim("t", 5), SIZES["d_model"]), trained=True)


def steps(**options: Any) -> list[Step]:
    run = SymbolicRun()
    with run:
        box = FeedForward(**SIZES, **options)
    run.steps.clear()
    with run.watching(box):
        box(stream(run))
    return run.steps


def test_the_real_forward_leaves_its_steps() -> None:
    found = steps(activation="gelu")
    assert [(step.function, step.path) for step in found] == [
        ("linear", "w_1"),
        ("gelu", ""),
        ("dropout", ""),
        ("linear", "w_2"),
    ]
    assert [step.tap for step in found if step.tap] == ["hidden", "output"]
    assert [step.formula for step in found if step.products] == ["2×b×t×d_model×d_ff", "2×b×t×d_ff×d_model"]
    assert found[0].values == {"b": 2, "t": 5, "d_model": 6, "d_ff": 8}
    assert found[1].operands[0] is found[0].result
    assert found[0].products[0].gradients == 2


def test_an_unknown_function_is_an_error_and_never_a_guess() -> None:
    run = SymbolicRun()
    x = stream(run)
    with run, pytest.raises(InputError, match=r"^lgamma: torch has this function, but the ledger has no rule for it"):
        torch.lgamma(x)
    with run, pytest.raises(InputError, match=r"^cos: .* no rule"):
        torch.cos(x)  # a rule for what is not trained, and nothing else
    with run, pytest.raises(InputError, match=r"^itemsize: .* no rule"):
        _ = x.itemsize


def test_calls_on_parameters_alone_are_seen_too() -> None:
    run = SymbolicRun()
    with run:
        norm = RMSNorm(SIZES["d_model"])
        torch.cat([norm.weight, norm.weight])
    assert run.steps[-1].function == "cat"
    assert isinstance(norm.weight, nn.Parameter) and isinstance(norm.weight, torch.Tensor)


def test_a_square_of_positions_is_queries_by_keys() -> None:
    run = SymbolicRun()
    t = Dim("t", 4)
    with run:
        at = torch.arange(t)
        far = at[None, :] - at[:, None]
    assert [size.written for size in far.shape] == ["t", "s"]


def test_outside_of_its_run_a_symbolic_tensor_is_of_no_use() -> None:
    x = stream(SymbolicRun())
    with pytest.raises(RuntimeError, match="inside its own run only"):
        x + x
    assert repr(x) == "Symbolic(b×t×d_model, torch.float32)"


def test_nothing_is_left_behind() -> None:
    before = torch.zeros(1)
    steps()
    assert not observed()
    assert torch.equal(F.relu(before), before)
