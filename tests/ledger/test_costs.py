from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

import measure
from glassformer.config.model import ModelConfig
from glassformer.errors import ConfigError
from glassformer.formula import evaluate_formula
from glassformer.layers.attention import KERNELS
from glassformer.ledger import reading
from glassformer.ledger.costs import Pass, costs
from glassformer.ledger.parameters import count
from glassformer.ledger.reading import Account, CostEntry
from glassformer.models import in_symbols
from glassformer.models.build import build
from glassformer.models.encoder_decoder import EncoderDecoder
from glassformer.models.presets import PRESETS
from glassformer.symbols.rules import RULES, linear
from glassformer.symbols.run import SymbolicRun
from glassformer.symbols.size import product_text, values
from glassformer.symbols.tensor import Storage, Symbolic
from grid import GRID
from marks import first_is_fast

CHUNK = 10
CHUNKS = first_is_fast(range(0, len(GRID), CHUNK))
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
BOTH_TYPES = {0.0: tuple(DTYPES), 0.1: tuple(DTYPES)}
IN_TURN = ({0.0: ("float32",), 0.1: ("bfloat16",)}, {0.0: ("bfloat16",), 0.1: ("float32",)})


def predicted(
    config: ModelConfig, dtype: str, kernel: str = "reference"
) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """FLOPs forward, FLOPs backward and kept bytes, by box."""
    sizes = {"batch": measure.BATCH, "length": measure.LENGTH, "target_length": measure.TARGET}
    run = Pass(**sizes, dtype=dtype, kernel=kernel)
    forward, backward, saved = Counter[str](), Counter[str](), Counter[str]()
    for cost in costs(config, run).values():
        box = measure.box(cost.part)
        forward[box], backward[box] = forward[box] + cost.forward, backward[box] + cost.backward
        saved[box] += cost.saved
    forward["total"], backward["total"] = forward.total(), backward.total()
    return forward, backward, saved


def disagreement(ours: Counter[str], theirs: Counter[str]) -> dict[str, tuple[int, int]]:
    return {part: (ours[part], theirs[part]) for part in {*ours, *theirs} if ours[part] != theirs[part]}


def wrong_bytes(
    config: ModelConfig, kernel: str = "reference", dtypes: Mapping[float, Sequence[str]] = BOTH_TYPES
) -> list[Any]:
    """Where the bytes are wrong, by rate of dropout and type; `dtypes` are the types that each rate is asked with."""
    found = []
    for rate in (0.0, 0.1):
        changed = measure.with_dropout(config, rate)
        model = build(changed, seed=0, kernel=kernel).train()
        for dtype in dtypes[rate]:
            torch_dtype = DTYPES[dtype]
            real = measure.saved(model.to(torch_dtype), measure.inputs(changed, torch_dtype))
            assert real.total() > 0
            gap = disagreement(predicted(changed, dtype, kernel)[2], real)
            found += [(rate, dtype, gap)] if gap else []
    return found


def wrong_flops(config: ModelConfig) -> list[Any]:
    changed = measure.with_dropout(config, 0.0)
    model = build(changed, seed=0, kernel="reference").train()
    forward, backward = measure.flops(model, measure.inputs(changed, torch.float32))
    assert forward["total"] > 0  # a counter that sees nothing would agree with everything
    ours = predicted(changed, "float32")
    return [gap for gap in (disagreement(ours[0], forward), disagreement(ours[1], backward)) if gap]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("first", CHUNKS)
def test_bytes_saved_for_backward_are_exact_on_the_grid(first: int, kernel: str) -> None:
    """Each model with and without dropout, in both types and with both kernels; rates and types take turns."""
    wrong = {
        i: found
        for i, config in enumerate(GRID[first : first + CHUNK], first)
        if (found := wrong_bytes(config, kernel, IN_TURN[(i + (kernel == "reference")) % 2]))
    }
    assert wrong == {}


@pytest.mark.fuzz
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("first", range(0, len(GRID), CHUNK))
def test_they_are_exact_with_each_rate_in_each_type(first: int, kernel: str) -> None:
    wrong = {i: found for i, config in enumerate(GRID[first : first + CHUNK]) if (found := wrong_bytes(config, kernel))}
    assert wrong == {}


@pytest.mark.slow
@pytest.mark.parametrize("first", CHUNKS)
def test_flops_forward_and_backward_are_exact_on_the_grid(first: int) -> None:
    wrong = {i: found for i, config in enumerate(GRID[first : first + CHUNK]) if (found := wrong_flops(config))}
    assert wrong == {}


@pytest.mark.many
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("family", ["encoder", "decoder"])
def test_a_text_beyond_the_trained_length_costs_the_same(family: str, kernel: str) -> None:
    sizes = {"family": family, "vocab_size": 17, "d_model": 12, "n_heads": 2, "d_ff": 12, "window": 2, "window_from": 4}
    scaled = {"kind": "rotary", "scaling": "dynamic", "factor": 2.0, "original_max_len": measure.LENGTH - 2}
    config = ModelConfig.from_dict({**sizes, "position": scaled, "head": "language_model"})
    assert wrong_bytes(config, kernel) == wrong_flops(config) == []


# --- mutations: if a rule or the reading forgets something, the grid must turn red ---


def test_one_product_less_turns_the_grid_red(monkeypatch: pytest.MonkeyPatch) -> None:
    def but_for_w_2(run: SymbolicRun, x: Symbolic, weight: Symbolic, bias: Symbolic | None = None) -> Symbolic:
        return run.new((*x.shape[:-1], weight.shape[0]), trained=True) if run.here == "w_2" else linear(run, x, weight)

    monkeypatch.setitem(RULES, "linear", but_for_w_2)
    assert any(wrong_flops(config) for config in GRID)


def test_one_saved_tensor_less_turns_the_grid_red(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_mean(run: SymbolicRun, x: Symbolic, *_: Any, **__: Any) -> Symbolic:
        run.keep(x, "input")
        run.keep(run.new(x.shape[:-1]), "rstd")
        return run.new(x.shape, trained=True)

    monkeypatch.setitem(RULES, "layer_norm", without_mean)
    assert any(wrong_bytes(config) for config in GRID)


def test_a_storage_that_is_charged_twice_turns_the_grid_red(monkeypatch: pytest.MonkeyPatch) -> None:
    def always(self: Any, part: str, name: str, storage: Storage) -> None:
        self.accounts.setdefault(part, Account()).kept.append(
            CostEntry(name, product_text(storage.size), values(storage.size))
        )

    monkeypatch.setattr(reading._RowReader, "_keep", always)
    assert any(wrong_bytes(config) for config in GRID)


@pytest.mark.parametrize("first", first_is_fast(range(0, len(GRID), 36)))
def test_layers_that_are_not_built_cost_what_the_built_ones_do(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def every_layer(stack: dict[str, Any]) -> list[int]:
        return list(range(stack["n_layers"]))

    deep = [replace(config, n_encoder_layers=config.encoder_layers and 5, n_decoder_layers=config.decoder_layers and 6)
            for config in GRID[first : first + 36 : 6]]  # fmt: skip
    deep += [replace(config, window=2, window_from=3) for config in deep]
    runs = [Pass(length=5, target_length=4, **each) for each in ({}, {"recompute": True}, {"kernel": "reference"})]
    short = [costs(config, run) for config in deep for run in runs]
    monkeypatch.setattr(in_symbols, "_shorten", every_layer)
    assert [costs(config, run) for config in deep for run in runs] == short


# --- decoding ---


@pytest.mark.parametrize("past", first_is_fast([1, 3]))
def test_a_step_of_decoding_is_exact(past: int) -> None:
    decoding = [config for config in GRID if config.family != "encoder" and config.head.kind == "language_model"]
    assert len(decoding) > 10
    for config in decoding:
        model = build(config, seed=0, kernel="reference").eval()
        given = measure.inputs(config, torch.float32)
        cache = model.decoder.empty_cache()
        with torch.no_grad():
            if isinstance(model, EncoderDecoder):
                memory = model.encode(given[0])
                model.decode(given[1][:, :past], memory, cache=cache)
                with FlopCounterMode(display=False) as counter:
                    model.decode(given[1][:, past : past + 1], memory, cache=cache)
            else:
                model(given[0][:, :past], cache=cache)
                with FlopCounterMode(display=False) as counter:
                    model(given[0][:, past : past + 1], cache=cache)
        length = measure.LENGTH if config.family == "encoder-decoder" else 1
        found = costs(config, Pass(batch=measure.BATCH, length=length, target_length=1, past=past, training=False))
        ours = sum(cost.forward for cost in found.values() if cost.part.split(".")[0] in ("decoder", "head"))
        assert ours == counter.get_total_flops() > 0
        assert all(cost.saved == 0 for cost in found.values())


# --- by hand ---


def test_the_base_model_by_hand() -> None:
    found = costs(PRESETS["paper-base"](), Pass(batch=3, length=7, target_length=5))
    block = "decoder.blocks.2"
    assert found[f"{block}.self_attention.qkv"].forward == 3 * 2 * 3 * 5 * 512 * 512
    assert found[f"{block}.cross_attention.qkv"].forward == 2 * 3 * 512 * 512 * (5 + 7 + 7)
    assert found[f"{block}.cross_attention.scores"].forward == 2 * (2 * 3 * 8 * 5 * 7 * 64)
    assert found[f"{block}.feed_forward"].forward == 2 * 2 * 3 * 5 * 512 * 2048
    assert found["head"].forward == 2 * 3 * 5 * 512 * 37000
    assert all(cost.backward == 2 * cost.forward for cost in found.values())
    assert found[f"{block}.self_attention_norm"].saved == (3 * 5 * 512 + 2 * 3 * 5) * 4


def test_the_triangle_counts_what_the_mask_lets_through() -> None:
    square = costs(PRESETS["gpt2"](), Pass(length=9))["decoder.blocks.0.self_attention.scores"]
    triangle = costs(PRESETS["gpt2"](), Pass(length=9, causal="triangle"))["decoder.blocks.0.self_attention.scores"]
    assert square.forward == 2 * 2 * 12 * 9 * 9 * 64
    assert triangle.forward == 2 * 2 * 12 * (9 * 10 // 2) * 64
    encoder = costs(PRESETS["bert-base"](), Pass(length=9, causal="triangle"))["encoder.blocks.0.self_attention.scores"]
    assert encoder.forward == square.forward


def test_formulas_in_symbols_and_in_numbers_give_the_amount() -> None:
    for cost in costs(PRESETS["qwen3-0.6b"](), Pass(length=16, dtype="bfloat16")).values():
        table = cost.to_json()
        assert evaluate_formula(table["flops_numbers"], {}) == cost.forward
        assert evaluate_formula(table["saved_numbers"], {}) == cost.saved


def test_the_steps_of_a_pass_are_a_public_value() -> None:
    run = Pass(batch=3, length=7, target_length=5)
    ledger = count("paper-base", PRESETS["paper-base"](), run)
    fused = next(step for step in ledger.steps if step.path == "decoder.blocks.0.cross_attention" and step.products)
    assert [product.name for product in fused.products] == ["scores", "heads"]
    assert fused.formula == "2×b×n_heads×t×s×d_k+2×b×n_heads×t×s×d_v"
    assert (fused.function, fused.tap) == ("scaled_dot_product_attention", "heads")
    assert fused.values == {"b": 3, "n_heads": 8, "t": 5, "s": 7, "d_k": 64, "d_v": 64}
    assert count("paper-base", PRESETS["paper-base"]()).steps == ()


def test_it_does_not_matter_where_a_pass_is_counted() -> None:
    config, run = PRESETS["mini-classifier"](), Pass(length=8)
    expected = costs(config, run)
    with torch.device("meta"):
        assert costs(config, run) == expected
    with torch.inference_mode():
        assert costs(config, run) == expected
    with torch.no_grad():
        assert costs(config, run) == expected
    torch.set_default_dtype(torch.float64)
    try:
        assert costs(config, run) == expected
    finally:
        torch.set_default_dtype(torch.float32)
    assert torch.is_grad_enabled()


def test_a_pass_that_cannot_be_is_refused() -> None:
    with pytest.raises(ConfigError, match="batch=0 is out of range; use 1 to"):
        Pass(batch=0)
    with pytest.raises(ConfigError, match="dtype='int4' is unknown; use one of: float32"):
        Pass(dtype="int4")
