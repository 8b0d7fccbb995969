from __future__ import annotations

import inspect
from functools import wraps
from typing import Any

import pytest
import torch
from torch import nn

import glassformer as gf
import grid
from glassformer import account as account_module
from glassformer.config import ModelConfig
from glassformer.formula import evaluate
from glassformer.layers.attention import MultiHeadAttention
from glassformer.layers.embedding import TokenEmbedding, Vectors
from glassformer.layers.feed_forward import ACTIVATIONS, FEED_FORWARDS, mlp
from glassformer.layers.head import HEADS, LanguageModelHead
from glassformer.layers.norm import NORMS, LayerNorm
from glassformer.layers.patch import ImagePatches, SeriesPatches
from glassformer.layers.position import POSITIONS
from glassformer.layers.queries import LearnedQueries
from glassformer.layers.residual import NORM_ORDERS
from glassformer.ledger.parameters import count
from glassformer.models.block import Block
from glassformer.models.build import account, build
from glassformer.models.check import INPUTS
from glassformer.models.initialize import RULES
from glassformer.models.options import BlockOptions
from glassformer.models.presets import PRESETS
from glassformer.models.stack import Stack


def differences(config: ModelConfig, model: nn.Module | None = None) -> list[str]:
    """Every disagreement between the ledger and the built model: names, shapes, sums by formula, totals."""
    model = build(config, device="meta") if model is None else model
    ledger = count("grid", config)
    declared = {name: shape for row in ledger.parts for name, shape in row.shapes().items()}
    parameters = {name: tuple(p.shape) for name, p in model.named_parameters()}
    buffers = {name: tuple(b.shape) for name, b in model.named_buffers()}
    found = [f"{name}: {declared.get(name)} declared, {shape} built" for name, shape in (parameters | buffers).items()
             if declared.get(name) != shape]  # fmt: skip
    found += [f"{name}: declared, not built" for name in declared if name not in parameters | buffers]
    for row in ledger.parts:
        held = sum(p.numel() for name, p in model.named_parameters() if name in row.shapes())
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


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_agrees_with_the_built_model(name: str) -> None:
    assert differences(PRESETS[name]()) == []


def test_the_grid_is_pairwise_over_all_options() -> None:
    assert len(grid.GRID) >= 200
    assert set(grid.OPTIONS) == set(ModelConfig.__dataclass_fields__), "a new key of the config goes into the grid"
    covered = set().union(*(grid.pairs(each) for each in grid.ASSIGNMENTS))
    assert covered | grid.IMPOSSIBLE == grid.every_pair()
    assert not covered & grid.IMPOSSIBLE
    kinds = {"position": POSITIONS, "head": HEADS, "feed_forward": FEED_FORWARDS, "init": RULES, "norm": NORMS}
    kinds |= {"activation": ACTIVATIONS, "norm_order": NORM_ORDERS, "input": INPUTS}
    for option, known in kinds.items():
        tried = {value["kind"] if isinstance(value, dict) else value for value in grid.OPTIONS[option]}
        assert tried == set(known), f"a new kind of {option} goes into the grid"


def test_the_grid_agrees_with_the_built_models() -> None:
    wrong = {i: found for i, config in enumerate(grid.GRID) if (found := differences(config))}
    assert wrong == {}


@pytest.mark.parametrize("name", PRESETS)
def test_the_formula_in_symbols_gives_the_number(name: str) -> None:
    for row in count(name, PRESETS[name]()).parts:
        assert evaluate(row.formula, row.values) == row.parameters + (row.buffers if not row.parameters else 0)
        assert evaluate(row.numbers, {}) == evaluate(row.formula, row.values)
        assert not any(symbol in row.numbers for symbol in row.symbols)


def test_counting_never_constructs_a_module(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: nn.Module, *_: Any, **__: Any) -> None:
        raise AssertionError("a module was made")

    monkeypatch.setattr(nn.Module, "__init__", refuse)
    with pytest.raises(AssertionError, match="a module was made"):
        nn.Linear(1, 1)
    totals = [gf.count(name).total.parameters for name in PRESETS]
    assert len(totals) == len(PRESETS)
    assert all(total > 0 for total in totals)


# --- mutations: if the declaration forgets something, the grid must turn red ---


def _is_red() -> bool:
    return any(differences(config) for config in grid.GRID)


def test_forgetting_one_bias_turns_the_grid_red(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = account_module.linear

    def without_bias_of_w_2(name: str, d_in: str, d_out: str, *, bias: bool) -> Any:
        return honest(name, d_in, d_out, bias=bias and name != "w_2")

    monkeypatch.setattr(mlp, "linear", without_bias_of_w_2)
    assert _is_red()


def test_forgetting_one_norm_turns_the_grid_red(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = LayerNorm.account

    def without_the_second(name: str, d_model: str, *, bias: bool) -> Any:
        return () if name == "feed_forward_norm" else honest(name, d_model, bias=bias)

    monkeypatch.setattr(LayerNorm, "account", staticmethod(without_the_second))
    assert _is_red()


def test_forgetting_one_tie_turns_the_grid_red(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = LanguageModelHead.account

    @wraps(honest)
    def untied(**options: Any) -> Any:
        return honest(**{**options, "tied": False})

    monkeypatch.setattr(LanguageModelHead, "account", staticmethod(untied))
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


# --- declaration and constructor stand side by side ---

BOXES = [
    *POSITIONS.values(),
    *FEED_FORWARDS.values(),
    *HEADS.values(),
    MultiHeadAttention,
    TokenEmbedding,
    Vectors,
    ImagePatches,
    SeriesPatches,
    LearnedQueries,
    Block,
    Stack,
]


@pytest.mark.parametrize("box", BOXES, ids=lambda box: box.__name__)
def test_account_has_the_signature_of_the_constructor(box: Any) -> None:
    constructor = list(inspect.signature(box.__init__).parameters.values())[1:]
    declared = list(inspect.signature(box.account).parameters.values())
    assert [(p.name, p.kind, p.default) for p in declared] == [(p.name, p.kind, p.default) for p in constructor]


def test_the_options_of_a_block_are_its_keywords() -> None:
    assert list(inspect.signature(Block.account).parameters) == list(BlockOptions.__annotations__)


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
    block = Block.account(d_model=512, n_heads=8, d_ff=2048, norm_order="pre", activation="gelu")
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


def test_the_account_checks_first() -> None:
    with pytest.raises(gf.ConfigError, match="n_heads=7 does not divide d_model=512"):
        account(ModelConfig(vocab_size=10, n_heads=7))
