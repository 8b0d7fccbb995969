"""What a compiled step keeps: the rules for an accelerator against what torch's compiler itself decides to keep."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
import torch
import torch._inductor.compile_fx as compile_fx
from torch import nn

from glassformer import kernels
from glassformer.config.model import ModelConfig
from glassformer.ledger.costs import Pass, costs
from glassformer.models.build import build
from glassformer.models.presets import PRESETS
from glassformer.training.compile import keeping_less

BATCH, LENGTH = 8, 64
SIZES = {"d_model": 64, "n_heads": 4, "d_ff": 256, "vocab_size": 100, "max_len": LENGTH, "attention_dropout": 0.0}
LAYERS = {"n_encoder_layers": 2, "n_decoder_layers": 2}
MEMORY = ("cross_attention", "w_k.input")
CONFIGS = {
    "post": {"dropout": 0.1, "feed_forward_dropout": 0.0},
    "dropout inside": {"dropout": 0.1, "feed_forward_dropout": 0.1},
    "pre, gelu": {"norm_order": "pre", "activation": "gelu"},
    "parallel": {"norm_order": "parallel", "activation": "gelu"},
    "gated, rotary, rms": {
        "norm_order": "pre",
        "norm": "rms",
        "feed_forward": "gated",
        "activation": "silu",
        "position": "rotary",
        "bias": [],
    },
}


class Decided(Exception):  # noqa: N818
    """The compiler has decided; the rest of its work is not needed."""


@contextmanager
def decisions() -> Iterator[list[int]]:
    """Bytes that the compiler keeps of every graph, without inputs and parameters."""
    found: list[int] = []
    decide = compile_fx.min_cut_rematerialization_partition

    def watched(graph: Any, inputs: Any, **options: Any) -> Any:
        forward, _ = decide(graph, inputs, **options)
        (results,) = next(node for node in forward.graph.nodes if node.op == "output").args
        kept = [node for node in results[options["num_fwd_outputs"] :] if node is not None and node.op != "placeholder"]
        tensors = [node.meta["val"] for node in kept if isinstance(node.meta["val"], torch.Tensor)]
        found.append(sum(x.numel() * x.itemsize for x in tensors))
        raise Decided

    compile_fx.min_cut_rematerialization_partition = watched
    try:
        yield found
    finally:
        compile_fx.min_cut_rematerialization_partition = decide
        torch.compiler.reset()


def kept_by_the_compiler(stack: nn.Module, *given: torch.Tensor) -> int:
    with decisions() as found, torch.autocast("cpu", torch.bfloat16), pytest.raises(Exception, match="Decided"):
        torch.compile(stack, backend=keeping_less)(*given)
    return found[0]


def kept_by_the_ledger(config: ModelConfig, stack: str) -> int:
    """Not counted: what the encoder gives to the decoder, one of the inputs; the joined matrix of q, k and v, which
    only an accelerator has.
    """
    found = costs(config, Pass(batch=BATCH, length=LENGTH, device="cuda", autocast=True))
    entries = [(part, entry) for part, cost in found.items() if part.startswith(f"{stack}.") for entry in cost.kept]
    return sum(
        each.amount
        for part, each in entries
        if (part.split(".")[-2], each.name) != MEMORY and not each.name.endswith(".weight")
    )


@pytest.mark.slow
@pytest.mark.parametrize(("name", "stack"), [("post", "encoder"), *((name, "decoder") for name in CONFIGS)])
def test_it_keeps_what_the_compiler_keeps(name: str, stack: str) -> None:
    """To two in a hundred; one tensor of the stream, where the compiler keeps the input of the stack instead."""
    config = ModelConfig.from_dict({**SIZES, **LAYERS, **CONFIGS[name], "head": "language_model"})
    model = build(config, seed=0).train()
    given = [torch.randn(BATCH, LENGTH, config.d_model, requires_grad=True) for _ in range(2)]
    real = kept_by_the_compiler(getattr(model, stack), *given[: 1 if stack == "encoder" else 2])
    ours, stream = kept_by_the_ledger(config, stack), given[0].nbytes // 2
    assert min(abs(ours - real - each) for each in (0, stream)) < 0.02 * real


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # torch's own compiler warns about itself
@pytest.mark.parametrize("name", ["post", "dropout inside", "pre, gelu", "parallel"])
def test_it_keeps_what_the_compiler_keeps_of_activations_with_kernels(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The activations in their forms for an accelerator: of GELU's, the compiler must see through a Triton kernel."""
    if "gelu" in CONFIGS[name].values() and not kernels.TRITON:
        pytest.skip("needs Triton")
    monkeypatch.setattr(kernels, "usable", lambda x: True)
    test_it_keeps_what_the_compiler_keeps(name, "decoder")


def test_a_tensor_is_cast_once_however_many_products_read_it() -> None:
    config = replace(PRESETS["paper-base"](), n_encoder_layers=2, n_decoder_layers=3, norm_order="pre")
    run = Pass(batch=2, length=8, autocast=True)
    entries = {
        device: [e for cost in costs(config, replace(run, device=device)).values() for e in cost.kept]
        for device in ("cpu", "cuda")
    }
    inputs = {device: [e.name for e in found if e.name.endswith(".input")] for device, found in entries.items()}
    assert [inputs[device].count("w_k.input") for device in ("cpu", "cuda")] == [8, 1]  # once: the encoder's output
    assert [inputs[device].count("w_q.input") for device in ("cpu", "cuda")] == [8, 0]  # a norm: again


def test_what_an_activation_gives_is_computed_again() -> None:
    config = replace(PRESETS["paper-base"](), dropout=0.1)
    found = costs(config, Pass(batch=2, length=8, device="cuda"))["encoder.blocks.1.feed_forward"]
    assert {entry.name: entry.amount for entry in found.kept} == {"relu": 4 * 2 * 8 * 2048}


def test_of_a_gated_network_only_gate_and_value_are_kept() -> None:
    config = replace(PRESETS["qwen3-0.6b"](), n_decoder_layers=2)
    found = costs(config, Pass(batch=2, length=8, device="cuda"))["decoder.blocks.1.feed_forward"]
    assert found.saved == 2 * (4 * 2 * 8 * 3072)


def test_on_a_cpu_nothing_is_joined() -> None:
    found = costs(PRESETS["gpt2"](), Pass(batch=2, length=8))["decoder.blocks.1.self_attention.qkv"]
    assert [entry.name for entry in found.kept] == ["w_q.input"]
    joined = costs(PRESETS["gpt2"](), Pass(batch=2, length=8, device="cuda"))["decoder.blocks.1.self_attention.qkv"]
    assert joined.saved == 4 * 3 * 768 * 768  # the matrix; its input is a norm, computed again
