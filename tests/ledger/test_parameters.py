from __future__ import annotations

import inspect
from collections.abc import Iterator
from math import prod
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

import glassformer as gf
import grid
from glassformer.config.model import ModelConfig
from glassformer.formula import evaluate_formula
from glassformer.layers.feed_forward import ACTIVATIONS, FEED_FORWARDS
from glassformer.layers.head import HEADS
from glassformer.layers.norm import NORMS, LayerNorm
from glassformer.layers.position import POSITIONS
from glassformer.layers.residual import NORM_ORDERS
from glassformer.ledger import costs as costs_module
from glassformer.ledger import rows as rows_module
from glassformer.ledger.costs import Pass, costs
from glassformer.ledger.parameters import count
from glassformer.ledger.rows import ParameterRow, Total, ledger_rows, rows_of_box
from glassformer.models import in_symbols
from glassformer.models.block import Block, BlockOptions
from glassformer.models.build import build
from glassformer.models.check import INPUTS
from glassformer.models.initialize import INIT_RULES
from glassformer.models.parts import Box
from glassformer.models.presets import PRESETS


def differences(config: ModelConfig, model: nn.Module | None = None) -> list[str]:
    """Every disagreement between the ledger and the built model: names, shapes, sums by formula, totals."""
    model = build(config, device="meta") if model is None else model
    ledger = count("grid", config)
    declared_by = [(row, row.shapes()) for row in ledger.parts]
    declared = {name: shape for _, shapes in declared_by for name, shape in shapes.items()}
    parameters = {name: tuple(p.shape) for name, p in model.named_parameters()}
    buffers = {name: tuple(b.shape) for name, b in model.named_buffers()}
    found = [f"{name}: {declared.get(name)} declared, {shape} built" for name, shape in (parameters | buffers).items()
             if declared.get(name) != shape]  # fmt: skip
    found += [f"{name}: declared, not built" for name in declared if name not in parameters | buffers]
    for row, shapes in declared_by:
        held = sum(prod(parameters[name]) for name in shapes if name in parameters)
        if row.parameters != held:
            found.append(f"{row.name}: {row.formula} = {row.parameters}, built {held}")
    total = (
        sum(p.numel() for p in model.parameters()),
        sum(p.numel() for p in model.parameters() if p.requires_grad),
        sum(b.numel() for b in model.buffers()),
    )
    if total != (ledger.total.parameters, ledger.total.trained, ledger.total.buffers):
        found.append(f"total {ledger.total}, built {total}")
    return found


@pytest.mark.many
@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_agrees_with_the_built_model(name: str) -> None:
    assert differences(PRESETS[name]()) == []


def test_the_grid_is_pairwise_over_all_options() -> None:
    assert len(grid.GRID) >= 200
    assert set(grid.OPTIONS) == set(ModelConfig.__dataclass_fields__), "a new key of the config goes into the grid"
    covered = set().union(*(grid.pairs(each) for each in grid.ASSIGNMENTS))
    assert covered | grid.IMPOSSIBLE == grid.every_pair()
    assert not covered & grid.IMPOSSIBLE
    kinds = {"position": POSITIONS, "head": HEADS, "feed_forward": FEED_FORWARDS, "init": INIT_RULES, "norm": NORMS}
    kinds |= {"activation": ACTIVATIONS, "norm_order": NORM_ORDERS, "input": INPUTS}
    for option, known in kinds.items():
        tried = {value["kind"] if isinstance(value, dict) else value for value in grid.OPTIONS[option]}
        assert tried == set(known), f"a new kind of {option} goes into the grid"


@pytest.mark.slow
def test_the_grid_agrees_with_the_built_models() -> None:
    wrong = {i: found for i, config in enumerate(grid.GRID) if (found := differences(config))}
    assert wrong == {}


@pytest.mark.many
@pytest.mark.parametrize("name", PRESETS)
def test_the_formula_in_symbols_gives_the_number(name: str) -> None:
    for row in count(name, PRESETS[name]()).parts:
        assert evaluate_formula(row.formula, row.values) == row.parameters + (row.buffers if not row.parameters else 0)
        assert evaluate_formula(row.numbers, {}) == evaluate_formula(row.formula, row.values)
        assert not any(symbol in row.numbers for symbol in row.symbols)


class Kernels(TorchDispatchMode):
    """Every operation that torch carries out, on any device."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen.append(str(func))
        return func(*args, **(kwargs or {}))


def test_counting_allocates_nothing_and_runs_no_kernel() -> None:
    with Kernels() as kernels:
        torch.empty(1, device="meta")
    assert len(kernels.seen) == 1
    with Kernels() as kernels:
        totals = [gf.count(name).total.parameters for name in PRESETS]
        costs(PRESETS["llama3-405b"](), Pass(length=8192))
    assert kernels.seen == []
    assert all(total > 0 for total in totals)


# --- mutations: if the reading forgets something, the grid must turn red ---


def _is_red() -> bool:
    return any(differences(config) for config in grid.GRID)


def test_forgetting_one_bias_turns_the_grid_red(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = rows_module._tensors
    monkeypatch.setattr(rows_module, "_tensors", lambda box: [each for each in honest(box) if each[0] != "w_2.bias"])
    assert _is_red()


def test_forgetting_one_norm_turns_the_grid_red(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = rows_module._walk

    def without_the_second(module: nn.Module, path: str, shared: str) -> Iterator[ParameterRow]:
        forgotten = isinstance(module, LayerNorm) and path.endswith(".feed_forward_norm")
        return iter(()) if forgotten else honest(module, path, shared)

    monkeypatch.setattr(rows_module, "_walk", without_the_second)
    assert _is_red()


def test_forgetting_one_tie_turns_the_grid_red(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = in_symbols.model_parts

    def untied(config: ModelConfig) -> dict[str, Box]:
        parts = honest(config)
        if "tied" in parts["head"].options:
            parts["head"].options["tied"] = False
        return parts

    monkeypatch.setattr(in_symbols, "model_parts", untied)
    assert _is_red()


def test_forgetting_one_layer_turns_the_grid_red(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = in_symbols._shorten
    monkeypatch.setattr(in_symbols, "_shorten", lambda stack: honest(stack)[1:] or [0])
    assert _is_red()


def test_a_model_that_lost_a_bias_is_noticed() -> None:
    config = PRESETS["mini-classifier"]()
    model = build(config)
    model.encoder.blocks[2].self_attention.w_o.bias = None
    assert differences(config, model) != []


def test_a_model_that_froze_a_matrix_is_noticed() -> None:
    config = PRESETS["mini-classifier"]()
    model = build(config)
    model.embedding.weight.requires_grad_(False)
    assert differences(config, model) != []


# --- a block and its options ---


def test_the_options_of_a_block_are_its_keywords() -> None:
    assert list(inspect.signature(Block).parameters) == list(BlockOptions.__annotations__)


# --- the hand-countable classifier and the lesson's encoder ---


def test_the_mini_classifier_by_hand() -> None:
    ledger = gf.count("mini-classifier", layers=1)
    rows = {row.name: (row.numbers, row.parameters) for row in ledger.parts}
    assert rows == {
        "embedding": ("30522×32", 976_704),
        "encoder.positions": ("400×32", 0),
        "encoder.blocks.0.self_attention.qkv": ("3×(32×32+32)", 3_168),
        "encoder.blocks.0.self_attention.w_o": ("32×32+32", 1_056),
        "encoder.blocks.0.self_attention_norm": ("2×32", 64),
        "encoder.blocks.0.feed_forward": ("2×(32×32+32)", 2_112),
        "encoder.blocks.0.feed_forward_norm": ("2×32", 64),
        "head": ("32×1+1", 33),
    }
    assert ledger.part("encoder.blocks.0.self_attention").parameters == 4_224
    assert (ledger.total.trained, ledger.total.buffers) == (983_201, 12_800)
    assert gf.count("mini-classifier").total.trained == 1_009_057 == 976_704 + 5 * 6_464 + 33


def test_the_lesson_encoder_by_hand() -> None:
    ledger = gf.count("lesson-encoder")
    assert ledger.total.parameters == 4_739_072 == 6 * 789_760 + 512
    block = rows_of_box(Block, {"d_model": 512, "n_heads": 8, "d_ff": 2048, "norm_order": "pre", "activation": "gelu"})
    assert sum(row.parameters for row in block) == 3_152_384


def test_a_tied_head_holds_nothing_and_says_what_it_shares() -> None:
    head = gf.count("paper-base").parts[-1]
    assert (head.parameters, head.formula, head.tied) == (0, "0", "embedding")
    config = {**PRESETS["paper-base"]().to_dict(), "tie_embeddings": "output"}
    assert gf.count(config).parts[-1].tied == "target_embedding"


def test_a_huge_model_needs_no_memory() -> None:
    assert gf.count("llama3-405b").total.parameters == 405_853_388_800
    model = gf.build("llama3-405b", device="meta")
    assert sum(p.numel() for p in model.parameters()) == 405_853_388_800
    assert next(model.parameters()).device == torch.device("meta")


def test_the_ledger_checks_first() -> None:
    with pytest.raises(gf.ConfigError, match="n_heads=7 does not divide d_model=512"):
        ledger_rows(ModelConfig(vocab_size=10, n_heads=7))


@pytest.mark.slow
@pytest.mark.parametrize("run", [Pass(batch=2, length=8), Pass(batch=2, length=1, past=7, training=False)])
def test_layers_that_are_alike_cost_nothing_to_count_and_to_show(run: Pass) -> None:
    small, large = (gf.count("gpt2", layers=layers, run=run) for layers in (2, 10_000))
    assert len(small.steps) == len(large.steps)
    layer = small.part("decoder.blocks.1").parameters
    assert large.total.parameters == small.total.parameters + 9_998 * layer
    assert f"{large.total.parameters:,}" in repr(large)
    assert not {"parts", "costs"} & set(vars(large))  # not one row of the 10,000 layers was made
    assert large.memory is not None and "parts" not in vars(large.memory)
    assert len(large.parts) == len(small.parts) + 9_998 * sum(
        r.name.startswith("decoder.blocks.1.") for r in small.parts
    )
    assert Total.of(large.parts) == large.total
    assert sum(cost.forward for cost in large.costs.values()) == large.to_json()["cost_total"]["flops_forward"]


def test_what_a_ledger_tells_of_a_pass_comes_from_one_run_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    models, real = [], costs_module.run_pass

    def counted(config: Any, run: Any, built: Any, sizes: Any, *, training: bool) -> Any:
        models.append(built)
        return real(config, run, built, sizes, training=training)

    monkeypatch.setattr(costs_module, "run_pass", counted)
    ledger = count("gpt2", PRESETS["gpt2"](), Pass(batch=2, length=8))
    assert ledger.steps and ledger.costs and ledger.memory and ledger.to_json() and repr(ledger)
    assert len(models) == 1
