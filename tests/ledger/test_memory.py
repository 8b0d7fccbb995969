from __future__ import annotations

import weakref
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import measure
from glassformer.formula import evaluate_formula
from glassformer.layers.attention import Cache
from glassformer.ledger.costs import Pass, costs
from glassformer.ledger.memory import memory
from glassformer.ledger.parameters import count
from glassformer.models.block import recompute
from glassformer.models.build import build
from glassformer.models.encoder_decoder import EncoderDecoder
from glassformer.models.presets import PRESETS
from grid import GRID
from marks import first_is_fast

GPT2 = PRESETS["gpt2"]()
SIZES = {"batch": measure.BATCH, "length": measure.LENGTH, "target_length": measure.TARGET}


@pytest.mark.parametrize("name", ["paper-base", "gpt2", "bert-base", "llama3-8b", "vit-b16"])
def test_weights_gradients_and_optimiser_state_are_those_of_the_model(name: str) -> None:
    whole = count(name, PRESETS[name]()).total
    found = memory(PRESETS[name](), Pass(dtype="bfloat16"))
    assert found.total("weights") == 2 * whole.parameters
    assert found.total("gradients") == 2 * whole.trained
    assert found.total("optimizer") == 2 * 2 * whole.trained
    assert found.total("buffers") == 2 * whole.buffers
    assert memory(PRESETS[name](), Pass(optimizer="sgd")).total("optimizer") == 0


def test_every_amount_is_its_formula() -> None:
    found = memory(PRESETS["paper-base"](), Pass(batch=3, length=7, recompute=True))
    every = [held for part in found.parts for held in part.held]
    names = {"weights", "buffers", "gradients", "optimizer", "counters", "kept", "again"}
    assert {held.name for held in every} == names
    assert all(evaluate_formula(held.numbers, {}) == held.amount for held in every)


def real_cache(config: Any, dtype: torch.dtype) -> tuple[Cache, int]:
    """The KV cache of a real model after a first pass, and how many bytes are in it."""
    model = build(config, seed=0, dtype=dtype).eval()
    given = measure.inputs(config, dtype)
    cache = model.decoder.empty_cache()
    with torch.no_grad():
        if isinstance(model, EncoderDecoder):
            model.decode(given[1], model.encode(given[0]), cache=cache)
        else:
            model(*given, cache=cache)
    kept = [x for layer in cache.layers for pair in (layer.past, layer.memory) for x in (pair.k, pair.v)]
    return cache, sum(x.nbytes for x in kept if x is not None)


@pytest.mark.slow
def test_the_kv_cache_is_exact_on_the_grid() -> None:
    decoding = [config for config in GRID if config.family != "encoder" and config.head.kind == "language_model"]
    assert len(decoding) > 10
    for config in decoding:
        for dtype in (torch.float32, torch.bfloat16):
            run = Pass(**SIZES, training=False, dtype=str(dtype).removeprefix("torch."))
            assert memory(config, run).total("cache") == real_cache(config, dtype)[1]


# --- activation checkpointing ---


def losses(config: Any, again: bool) -> tuple[torch.Tensor, list[torch.Tensor]]:
    model = recompute(build(config, seed=0, dtype=torch.float64), again).train()
    torch.manual_seed(1)
    y = model(*measure.inputs(config, torch.float64)).square().sum()
    y.backward()
    return y.detach(), [p.grad for p in model.parameters() if p.grad is not None]


@pytest.mark.parametrize("name", ["encoder", "decoder", "encoder-decoder"])
def test_computing_again_changes_neither_the_answer_nor_a_gradient(name: str) -> None:
    config = measure.with_dropout(next(config for config in GRID if config.family == name), 0.1)
    plain, gradients = losses(config, False)
    again, gradients_again = losses(config, True)
    assert torch.equal(plain, again)
    assert len(gradients) == len(gradients_again) > 0
    assert all(torch.equal(a, b) for a, b in zip(gradients, gradients_again, strict=True))


@pytest.mark.parametrize("rate", first_is_fast([0.0, 0.1]))
@pytest.mark.parametrize("first", first_is_fast(range(0, len(GRID), 48)))
def test_flops_of_computing_again_are_exact(first: int, rate: float) -> None:
    for config in GRID[first : first + 48 : 4]:
        changed = measure.with_dropout(config, rate)
        model = recompute(build(changed, seed=0, kernel="reference")).train()
        _, backward = measure.flops(model, measure.inputs(changed, torch.float32))
        run = Pass(**SIZES, kernel="reference", recompute=True)
        assert sum(cost.backward for cost in costs(changed, run).values()) == backward["total"]


def test_computing_again_keeps_one_block_and_what_enters_each() -> None:
    config, length = PRESETS["gpt2"](), 64
    plain = costs(config, Pass(length=length))
    again = costs(config, Pass(length=length, recompute=True))
    one = f"decoder.blocks.{3}."
    inside = sum(cost.saved for part, cost in plain.items() if part.startswith(one))
    stream = 4 * length * 768
    found = {part: cost.saved for part, cost in again.items() if part.startswith(one)}
    assert found[f"{one}input"] == stream
    assert sum(found.values()) == stream
    recomputed = sum(e.amount for part, cost in again.items() if part.startswith(one) for e in cost.recomputed)
    assert recomputed + stream == inside  # the first norm keeps what enters, too


# --- the peak ---


COUNTERS = 4 * (4 + 12 * 16)  # gpt2: tensors, each with the number of the step beside its state


def test_the_peak_of_gpt2_by_hand() -> None:
    b, t, d, n, width = 8, 1024, 768, 124_439_808, 50304
    run = Pass(batch=b, length=t, device="cuda")
    found, kept = memory(GPT2, run), sum(cost.saved for cost in costs(GPT2, run).values())
    assert found.at == "loss"
    rows = 2**28 // width  # of a chunk of logits
    assert found.peak == 4 * n + 8 * n + COUNTERS + kept + 4 * (b * t * d + width * d + rows * width)
    mixed = memory(GPT2, replace(run, autocast=True))
    assert mixed.moments["loss"][-1].amount == b * t * d * (4 + 2) + 2 * width * (d + rows)
    assert mixed.moments["slopes"][-1].amount == 4 * d * (b * t + 50257)


def test_the_peak_of_a_loop_that_holds_all_logits_by_hand() -> None:
    b, t, v, n = 8, 1024, 50257, 124_439_808
    run = Pass(batch=b, length=t, device="cuda", loss="whole")
    found, kept = memory(GPT2, run), sum(cost.saved for cost in costs(GPT2, run).values())
    assert found.peak == 4 * n + 8 * n + COUNTERS + kept + 3 * 4 * b * t * v
    mixed = memory(GPT2, replace(run, autocast=True))
    assert mixed.moments["loss"][-1].amount == (4 + 4 + 2) * b * t * v


def test_on_a_cpu_all_logits_are_held() -> None:
    run = Pass(batch=2, length=64)
    assert memory(GPT2, run).moments["loss"][-1].amount == 3 * 4 * 2 * 64 * 50257
    assert costs(GPT2, run) == costs(GPT2, replace(run, loss="whole"))


def test_a_small_batch_peaks_when_the_weights_are_updated() -> None:
    found = memory(PRESETS["gpt2"](), Pass(batch=1, length=8, device="cuda"))
    n, tied = 124_439_808, 50257 * 768
    assert found.at == "update"
    assert found.peak == 4 * (4 * n + tied) + COUNTERS


def test_fewer_bytes_are_kept_under_autocast_and_checkpointing() -> None:
    def peak(**options: bool) -> int:
        return memory(PRESETS["paper-base"](), Pass(batch=64, length=128, device="cuda", **options)).peak

    assert peak(autocast=True, recompute=True) < peak(recompute=True) < peak(autocast=True) < peak()


class Copies(TorchDispatchMode):
    """Follows the tensors that are cast."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[weakref.ref[torch.Tensor]] = []

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = function(*args, **(kwargs or {}))
        if function is torch.ops.aten._to_copy.default and args[0].ndim == 2:
            self.made.append(weakref.ref(made))
        return made

    def alive(self) -> int:
        return sum(x.nbytes for each in self.made if (x := each()) is not None)


@pytest.mark.parametrize("name", ["paper-base", "gpt2"])
def test_copies_of_recomputed_weights_last_as_long_as_autocast(name: str) -> None:
    config = replace(PRESETS[name](), d_model=64, d_ff=128, n_heads=4, vocab_size=50)
    model: Any = recompute(build(config, seed=0)).train()
    x = torch.randn(2, 8, 64, requires_grad=True)
    with Copies() as copies, torch.autocast("cpu", torch.bfloat16):
        out = model.decoder(x, model.encoder(x)) if config.family == "encoder-decoder" else model.decoder(x)
        alive = copies.alive()
    assert out.requires_grad and copies.alive() < alive
    again = costs(config, Pass(batch=2, length=8, autocast=True, recompute=True)).values()
    assert alive == sum(e.amount for cost in again for e in cost.recomputed if e.name.endswith(".weight"))


def test_the_loss_in_chunks_meets_these_copies_but_those_of_a_joined_matrix() -> None:
    run = Pass(batch=2, length=64, device="cuda", autocast=True, recompute=True)
    moments = {name: {each.name: each.amount for each in held} for name, held in memory(GPT2, run).moments.items()}
    assert moments["loss"]["copies"] == 2 * 12 * (768 * 768 + 2 * 768 * 3072)
    assert [name for name, held in moments.items() if "copies" in held] == ["loss"]
    assert "copies" not in {each.name for each in memory(GPT2, replace(run, autocast=False)).moments["loss"]}
