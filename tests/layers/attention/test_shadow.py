from __future__ import annotations

from collections import Counter

from glassformer.layers.attention.shadow import SHADOWS, Look
from glassformer.tape import Shadow, Tape

SIZES = {"b": 2, "t": 5, "s": 5, "n_heads": 4, "n_kv_heads": 4, "d_k": 3, "d_v": 3}
PLAIN = Look(causal=False, masked=False, dropout=0.0)


def kept(kernel: str, look: Look, *, accelerator: bool = False, **sizes: int) -> Counter[str]:
    """Bytes by name; q, k and v are views of what the projections gave."""
    tape = Tape(accelerator=accelerator)
    with tape.at("attention", **{**SIZES, **sizes}):
        q, k, v = (tape.new("b", "t", f"n_heads×{d}").heads("b", "n_heads", "t", d) for d in ("d_k", "d_k", "d_v"))
        SHADOWS[kernel](tape, q, k, v, look)
    found = Counter[str]()
    for entry in tape.kept:
        found[entry.name] += entry.amount
    return found


def test_the_reference_keeps_the_weights_and_the_fused_kernel_one_number_a_row() -> None:
    operands = dict.fromkeys(("q", "k", "v"), 2 * 4 * 5 * 3 * 4)
    assert kept("reference", PLAIN) == {**operands, "softmax": 2 * 4 * 5 * 5 * 4}
    assert kept("fused", PLAIN) == {**operands, "heads": 2 * 4 * 5 * 3 * 4, "logsumexp": 2 * 4 * 5 * 4}


def test_a_look_ahead_mask_costs_the_fused_kernel_nothing_and_another_mask_a_tensor() -> None:
    assert "mask" not in kept("fused", Look(causal=True, masked=True, dropout=0.0))
    assert kept("fused", Look(causal=True, masked=True, plain=False, dropout=0.0))["mask"] == 5 * 5 * 4


def test_on_the_cpu_the_fused_kernel_falls_back_and_on_an_accelerator_it_does_not() -> None:
    dropped = Look(causal=False, masked=False, dropout=0.1)
    assert "softmax" in kept("fused", dropped)
    assert "softmax" not in kept("fused", dropped, accelerator=True)
    assert "softmax" in kept("fused", PLAIN, d_v=7)


def test_a_bias_that_is_trained_needs_the_weights() -> None:
    tape = Tape()
    with tape.at("", **SIZES):
        fixed = Look(causal=False, masked=False, dropout=0.0, bias=tape.new("n_heads", "t", "s", grad=False))
        trained = Look(causal=False, masked=False, dropout=0.0, bias=tape.new("n_heads", "t", "s"))
    assert isinstance(fixed.bias, Shadow)
    assert kept("fused", fixed)["bias"] == 4 * 5 * 5 * 4
    assert "softmax" in kept("fused", trained)
