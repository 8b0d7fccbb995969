from __future__ import annotations

from collections import Counter

import torch

from glassformer.layers.attention import KERNELS, Mask
from glassformer.symbols.run import SymbolicRun
from glassformer.symbols.size import Dim
from glassformer.symbols.tensor import Symbolic

SIZES = {"b": 2, "t": 5, "s": 5, "n_heads": 4, "d_k": 3, "d_v": 3}
PLAIN = Mask()
WINDOW = Mask(causal=True, window=2)


def kept(
    kernel: str,
    mask: Mask = PLAIN,
    *,
    bias: bool | None = None,
    dropout: float = 0.0,
    accelerator: bool = False,
    **sizes: int,
) -> Counter[str]:
    """Bytes by name; q, k and v are views of what the projections gave. `bias`: is there one, and is it trained?"""
    run = SymbolicRun(accelerator=accelerator)
    n = {name: Dim(name, value) for name, value in {**SIZES, **sizes}.items()}

    def heads(length: str, width: str) -> Symbolic:
        side_by_side = run.new((n["b"], n[length], n["n_heads"], n[width]), trained=True)
        return torch.transpose(side_by_side, 1, 2)  # type: ignore[return-value]

    with run:
        given = None if bias is None else run.new((n["n_heads"], n["t"], n["s"]), trained=bias)
        KERNELS[kernel](
            heads("t", "d_k"), heads("s", "d_k"), heads("s", "d_v"), mask, bias=given, scale=1.0, dropout=dropout
        )
    found, seen = Counter[str](), set[int]()
    for step in run.steps:
        for name, storage in step.kept:
            if id(storage) not in seen:
                amount = 1
                for size in storage.size:
                    amount *= int(size)
                found[name] += amount
                seen.add(id(storage))
    return found


def test_the_reference_keeps_the_weights_and_the_fused_kernel_one_number_a_row() -> None:
    operand = 2 * 4 * 5 * 3 * 4
    assert kept("reference") == {"operand": 3 * operand, "softmax": 2 * 4 * 5 * 5 * 4}
    assert kept("fused") == {"q": operand, "k": operand, "v": operand, "heads": operand, "logsumexp": 2 * 4 * 5 * 4}


def test_a_look_ahead_mask_costs_the_fused_kernel_nothing_and_another_mask_a_tensor() -> None:
    assert "mask" not in kept("fused", Mask(causal=True))
    assert kept("fused", WINDOW)["mask"] == 5 * 5 * 4
    assert kept("reference", Mask(causal=True))["blocked"] == 5 * 5


def test_on_the_cpu_the_fused_kernel_falls_back_and_on_an_accelerator_it_does_not() -> None:
    assert "softmax" in kept("fused", dropout=0.1)
    assert "softmax" not in kept("fused", dropout=0.1, accelerator=True)
    assert "softmax" in kept("fused", d_v=7)


def test_a_bias_that_is_trained_needs_the_weights() -> None:
    assert kept("fused", bias=False)["bias"] == 4 * 5 * 5 * 4
    assert "softmax" in kept("fused", bias=True)


def test_heads_that_lie_as_q_does_are_no_copy() -> None:
    run = SymbolicRun()
    x = run.new((Dim("b", 2), Dim("t", 5), Dim("n_heads", 4), Dim("d_k", 3)), trained=True)
    with run:
        q = x.transpose(1, 2)
        heads = KERNELS["fused"](q, q, q, PLAIN, bias=None, scale=1.0, dropout=0.0)
        side_by_side = heads.transpose(1, 2).flatten(2)
        straight = q.contiguous()
        copied = KERNELS["fused"](straight, q, q, PLAIN, bias=None, scale=1.0, dropout=0.0)
        moved = copied.transpose(1, 2).flatten(2)
    assert side_by_side.storage_ is heads.storage_  # type: ignore[attr-defined]
    assert moved.storage_ is not copied.storage_  # type: ignore[attr-defined]
