from __future__ import annotations

import math
from functools import cache
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import glassformer as gf
from glassformer.layers.norm import LayerNorm, RMSNorm
from glassformer.layers.position import sinusoid
from glassformer.models.initialize import INIT_RULES, initialize

D, D_K, D_FF, LAYERS, HEADS = 64, 24, 160, 4, 4
WIDE = HEADS * D_K  # what the heads give together: 96, not d_model, so that fans differ
CONFIG: dict[str, Any] = {
    "family": "encoder",
    "vocab_size": 300,
    "max_len": 100,
    "d_model": D,
    "n_heads": HEADS,
    "d_k": D_K,
    "d_ff": D_FF,
    "n_encoder_layers": LAYERS,
    "segments": 50,
    "position": "learned",
    "feed_forward": "gated",
    "qk_norm": True,
    "embedding_norm": True,
    "head": {"kind": "language_model", "bias": True, "transform": True},
}
BLOCK = "encoder.blocks.1"
MATRICES = {
    "embedding": "embedding.weight",
    "segments": "embedding.segments",
    "position": "encoder.positions.weight",
    "q": f"{BLOCK}.self_attention.w_q.weight",
    "k": f"{BLOCK}.self_attention.w_k.weight",
    "v": f"{BLOCK}.self_attention.w_v.weight",
    "w_o": f"{BLOCK}.self_attention.w_o.weight",
    "w_gate": f"{BLOCK}.feed_forward.w_gate.weight",
    "w_1": f"{BLOCK}.feed_forward.w_1.weight",
    "w_2": f"{BLOCK}.feed_forward.w_2.weight",
    "transform": "head.transform.weight",
    "output": "head.weight",
}


def glorot(fan_in: int, fan_out: int) -> float:
    return math.sqrt(2 / (fan_in + fan_out))


XAVIER = {
    "embedding": 1 / 8,  # 1/√64
    "segments": 1 / 8,
    "position": 0.02,
    "q": glorot(D, WIDE),
    "k": glorot(D, WIDE),
    "v": glorot(D, WIDE),
    "w_o": glorot(WIDE, D),
    "w_gate": glorot(D, D_FF),
    "w_1": glorot(D, D_FF),
    "w_2": glorot(D_FF, D),
    "transform": glorot(D, D),
    "output": 1 / 8,
}
STANDARD_DEVIATIONS: dict[str, dict[str, float]] = {
    "xavier": XAVIER,
    "paper": {**XAVIER, "position": 1 / 8},
    "he": {
        **XAVIER,
        **dict.fromkeys(("q", "k", "v", "w_gate", "w_1", "transform"), math.sqrt(2 / D)),
        "w_o": math.sqrt(2 / WIDE),
        "w_2": math.sqrt(2 / D_FF),
    },
    "normal": dict.fromkeys(XAVIER, 0.02),
    "gpt2": {**dict.fromkeys(XAVIER, 0.02), "w_o": 0.02 / math.sqrt(8), "w_2": 0.02 / math.sqrt(8)},
    "t5": {
        **dict.fromkeys(("embedding", "segments", "position"), 1.0),
        **dict.fromkeys(("k", "v", "w_gate", "w_1", "transform", "output"), 1 / 8),
        "q": (D * D_K) ** -0.5,
        "w_o": WIDE**-0.5,
        "w_2": D_FF**-0.5,
    },
}


@cache
def built(rule: str) -> nn.Module:
    return gf.build({**CONFIG, "init": rule}, seed=1)


def test_every_rule_is_checked_here() -> None:
    assert set(STANDARD_DEVIATIONS) == set(INIT_RULES)


@pytest.mark.parametrize("role", sorted(MATRICES))
@pytest.mark.parametrize("rule", sorted(INIT_RULES))
def test_measured_standard_deviation(rule: str, role: str) -> None:
    weight = built(rule).get_parameter(MATRICES[role])
    expected = STANDARD_DEVIATIONS[rule][role]
    assert weight.std().item() == pytest.approx(expected, rel=0.06)
    assert abs(weight.mean().item()) < 5 * expected / math.sqrt(weight.numel())


@pytest.mark.parametrize("rule", sorted(INIT_RULES))
def test_matrices_are_drawn_evenly_or_normally(rule: str) -> None:
    for role in ("q", "w_o", "w_1", "transform"):
        size = built(rule).get_parameter(MATRICES[role]).abs().max().item() / STANDARD_DEVIATIONS[rule][role]
        assert (size <= math.sqrt(3) + 1e-5) is (rule in ("xavier", "paper"))
    for role in ("embedding", "output"):  # always normal: the largest of 19,200 is beyond three deviations
        size = built(rule).get_parameter(MATRICES[role]).abs().max().item() / STANDARD_DEVIATIONS[rule][role]
        assert size > 3


@pytest.mark.parametrize("rule", sorted(INIT_RULES))
def test_biases_are_zero_and_norms_one(rule: str) -> None:
    model = built(rule)
    biases = {name: parameter for name, parameter in model.named_parameters() if name.endswith("bias")}
    assert len(biases) == 11 * LAYERS + 4
    assert all(torch.equal(bias, torch.zeros_like(bias)) for bias in biases.values())
    norms = [module for module in model.modules() if isinstance(module, LayerNorm | RMSNorm)]
    assert len(norms) == 4 * LAYERS + 2
    assert all(torch.equal(norm.weight, torch.ones_like(norm.weight)) for norm in norms)


@pytest.mark.parametrize("rule", sorted(INIT_RULES))
def test_whatever_was_there_before_is_overwritten(rule: str) -> None:
    model = gf.build({**CONFIG, "init": rule, "n_encoder_layers": 1}, seed=1)
    expected = {name: parameter.clone() for name, parameter in model.named_parameters()}
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(7.0)
    initialize(model, rule, d_model=D, n_layers=1, generator=torch.Generator().manual_seed(1))
    left = [name for name, parameter in model.named_parameters() if not torch.equal(parameter, expected[name])]
    assert left == []


@pytest.mark.parametrize("family", ["encoder", "decoder", "encoder-decoder"])
def test_the_depth_of_gpt2_is_that_of_the_deeper_side(family: str) -> None:
    sides = {"encoder": {"n_encoder_layers": 9}, "decoder": {"n_decoder_layers": 9}}
    layers = {"n_encoder_layers": 2, "n_decoder_layers": 9} if "-" in family else sides[family]
    model = gf.build(
        {
            "family": family,
            "vocab_size": 10,
            "d_model": 64,
            "n_heads": 4,
            "d_ff": 64,
            "max_len": 4,
            "init": "gpt2",
            **layers,
        },
        seed=0,
    )
    adding = [p for name, p in model.named_parameters() if name.endswith(("w_o.weight", "w_2.weight"))]
    measured = torch.cat([p.flatten() for p in adding]).std().item()
    assert measured == pytest.approx(0.02 / math.sqrt(18), rel=0.03)


@pytest.mark.parametrize(("rule", "expected"), [("t5", 1 / 8), ("normal", 0.02), ("gpt2", 0.02)])
def test_relative_positions(rule: str, expected: float) -> None:
    position = {"kind": "relative", "buckets": 1024, "max_distance": 4096}
    model = gf.build({**CONFIG, "init": rule, "position": position, "n_encoder_layers": 1}, seed=0)
    assert model.encoder.positions.weight.std().item() == pytest.approx(expected, rel=0.06)


@pytest.mark.parametrize(("rule", "expected"), [("normal", 0.02), ("xavier", 0.02), ("paper", 1 / 8)])
def test_class_tokens_start_as_positions_do(rule: str, expected: float) -> None:
    image = {"kind": "image", "size": 8, "patch": 4, "class_tokens": 40}
    config = {**CONFIG, "init": rule, "vocab_size": None, "segments": 0, "input": image, "n_encoder_layers": 1}
    model = gf.build({**config, "head": {"kind": "classifier", "classes": 2}}, seed=0)
    assert model.embedding.class_token.std().item() == pytest.approx(expected, rel=0.06)


def translator(rule: str, vocab_size: int = 2000) -> nn.Module:
    return gf.build(
        {
            "vocab_size": vocab_size,
            "d_model": 64,
            "n_heads": 4,
            "d_ff": 64,
            "max_len": 16,
            "n_encoder_layers": 1,
            "n_decoder_layers": 1,
            "tie_embeddings": "all",
            "head": "language_model",
            "init": rule,
        },
        seed=0,
    )


def test_the_tied_matrix_of_the_paper_serves_input_and_output() -> None:
    model = translator("paper")
    shared = [name for name, p in model.named_parameters() if p.shape == (2000, 64)]
    assert shared == ["embedding.weight"]
    assert model.embedding.weight.std().item() == pytest.approx(1 / 8, rel=0.02)
    tokens = torch.arange(2000)[None]
    assert model.embedding(tokens).std().item() == pytest.approx(1.0, rel=0.02)  # times √d_model, as it enters


def test_the_tied_matrix_starts_above_the_loss_of_a_guess_and_a_small_one_near_it() -> None:
    torch.manual_seed(0)
    source, target, following = torch.randint(0, 2000, (3, 16, 16))

    def loss_over_guess(rule: str) -> float:
        logits: Tensor = translator(rule)(source, target)
        return F.cross_entropy(logits.flatten(0, 1), following.flatten()).item() / math.log(2000)

    assert loss_over_guess("paper") > 1.04
    assert loss_over_guess("normal") == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize("rule", sorted(INIT_RULES))
def test_special_tokens_keep_their_pattern(rule: str) -> None:
    model = gf.build({**CONFIG, "init": rule, "special_tokens": 5, "n_encoder_layers": 1}, seed=0)
    special, ordinary = model.embedding.weight[:5], model.embedding.weight[5:]
    size = ordinary.square().mean().sqrt()
    torch.testing.assert_close(special, sinusoid(torch.arange(5), D) * size * math.sqrt(2))
    assert size.item() == pytest.approx(STANDARD_DEVIATIONS[rule]["embedding"], rel=0.03)


def weights(rule: str, seed: int | None) -> dict[str, Tensor]:
    return gf.build({**CONFIG, "init": rule, "n_encoder_layers": 1}, seed=seed).state_dict()


@pytest.mark.parametrize("rule", sorted(INIT_RULES))
def test_the_same_seed_gives_the_same_weights(rule: str) -> None:
    torch.manual_seed(100)
    first = weights(rule, 3)
    torch.manual_seed(200)
    second, other = weights(rule, 3), weights(rule, 4)
    assert list(first) == list(second)
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not torch.equal(first["embedding.weight"], other["embedding.weight"])


def test_without_a_seed_the_weights_follow_the_global_one() -> None:
    torch.manual_seed(5)
    first = weights("xavier", None)
    torch.manual_seed(5)
    second = weights("xavier", None)
    third = weights("xavier", None)
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not torch.equal(first["embedding.weight"], third["embedding.weight"])


def test_matrices_of_one_shape_are_drawn_apart() -> None:
    model = built("normal")
    drawn = [model.get_parameter(MATRICES[role]) for role in ("q", "k", "v")]
    drawn += [model.get_parameter(f"encoder.blocks.{layer}.self_attention.w_q.weight") for layer in (0, 2)]
    assert len({tuple(weight.flatten()[:4].tolist()) for weight in drawn}) == 5
