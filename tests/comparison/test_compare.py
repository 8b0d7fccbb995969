from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import glassformer as gf
from glassformer.comparison.compare import compare
from glassformer.errors import ConfigError, InputError
from small_translator import trained

SIZES: dict[str, Any] = {"vocab_size": 23, "max_len": 16, "d_model": 12, "n_heads": 3, "d_ff": 20, "init": "normal"}
DEPTH = {"encoder": {"n_encoder_layers": 3}, "decoder": {"n_decoder_layers": 3}}
LM, CLASSES = {"kind": "language_model"}, {"kind": "classifier", "classes": 4}
QUERIES = {
    "family": "encoder-decoder",
    "n_encoder_layers": 2,
    "n_decoder_layers": 3,
    "queries": 4,
    "causal": False,
    "head": {"kind": "objects", "classes": 5},
}

MODELS: dict[str, dict[str, Any]] = {
    "encoder": {"family": "encoder", **DEPTH["encoder"], "head": CLASSES},
    "bert": {"family": "encoder", **DEPTH["encoder"], "head": {**LM, "transform": True}, "position": "learned"},
    "decoder": {"family": "decoder", **DEPTH["decoder"], "head": LM, "norm_order": "pre", "tie_embeddings": "all"},
    "llama": {
        "family": "decoder",
        **DEPTH["decoder"],
        "head": LM,
        "norm_order": "pre",
        "norm": "rms",
        "position": {"kind": "rotary"},
        "feed_forward": "gated",
        "n_kv_heads": 1,
    },
    "translator": {"family": "encoder-decoder", "n_encoder_layers": 2, "n_decoder_layers": 3, "head": LM},
    "tied translator": {
        "family": "encoder-decoder",
        "n_encoder_layers": 2,
        "n_decoder_layers": 3,
        "head": LM,
        "tie_embeddings": "all",
    },
    "image": {
        "family": "encoder",
        **DEPTH["encoder"],
        "vocab_size": None,
        "input": {"kind": "image", "size": 6, "patch": 3, "channels": 1},
        "head": CLASSES,
    },
    "series": {
        "family": "encoder",
        **DEPTH["encoder"],
        "vocab_size": None,
        "input": {"kind": "series", "context": 10, "length": 4, "stride": 2},
        "head": {"kind": "regression", "outputs": 2},
    },
    "vectors": {"family": "encoder", **DEPTH["encoder"], "vocab_size": None, "input": "vectors"},
    "queries": {**QUERIES, "vocab_size": None, "input": {"kind": "image", "size": 6, "patch": 3, "channels": 1}},
    "queries for texts": QUERIES,
}


def made(name: str, seed: int = 1, **keys: Any) -> nn.Module:
    return gf.build(SIZES | MODELS[name] | keys, seed=seed)


def changed(name: str, weight: str) -> nn.Module:
    """The same model with one number of one weight moved."""
    model = made(name)
    with torch.no_grad():
        model.get_parameter(weight).view(-1)[-1] += 0.5
    return model


@pytest.mark.parametrize("name", MODELS)
def test_identical_models_are_identical_at_every_tap(name: str) -> None:
    found = compare(made(name), made(name))
    assert found.identical and found.same and found.first is None and found.parting is None
    assert found.counts[0] == found.counts[1] == len(found.taps) >= len(gf.taps(made(name)))


PLACES = [
    ("encoder", "embedding.weight", "embedding.output"),
    ("encoder", "encoder.blocks.0.self_attention.w_q.weight", "encoder.blocks.0.self_attention.q"),
    ("encoder", "encoder.blocks.1.self_attention.w_k.weight", "encoder.blocks.1.self_attention.k"),
    ("encoder", "encoder.blocks.2.self_attention.w_o.bias", "encoder.blocks.2.self_attention.output"),
    ("encoder", "encoder.blocks.1.self_attention_norm.weight", "encoder.blocks.1.self_attention_norm.output"),
    ("encoder", "encoder.blocks.1.feed_forward.w_1.weight", "encoder.blocks.1.feed_forward.hidden"),
    ("encoder", "encoder.blocks.1.feed_forward_norm.bias", "encoder.blocks.1.feed_forward_norm.output"),
    ("encoder", "head.output.weight", "head.logits"),
    ("bert", "encoder.positions.weight", None),
    ("bert", "head.transform.weight", "head.norm.output"),
    ("decoder", "decoder.blocks.2.self_attention.w_v.bias", "decoder.blocks.2.self_attention.v"),
    ("decoder", "decoder.blocks.1.feed_forward.w_2.weight", "decoder.blocks.1.feed_forward.output"),
    ("decoder", "decoder.final_norm.weight", "decoder.final_norm.output"),
    ("llama", "decoder.blocks.1.feed_forward.w_gate.weight", "decoder.blocks.1.feed_forward.gate"),
    ("llama", "decoder.blocks.0.self_attention.w_k.weight", "decoder.blocks.0.self_attention.k"),
    ("translator", "encoder.blocks.1.feed_forward.w_2.weight", "encoder.blocks.1.feed_forward.output"),
    ("translator", "decoder.blocks.1.cross_attention.w_k.weight", "decoder.blocks.1.cross_attention.k"),
    ("translator", "decoder.blocks.2.cross_attention.w_q.weight", "decoder.blocks.2.cross_attention.q"),
    ("translator", "decoder.blocks.2.cross_attention_norm.bias", "decoder.blocks.2.cross_attention_norm.output"),
    ("tied translator", "decoder.blocks.0.self_attention.w_q.weight", "decoder.blocks.0.self_attention.q"),
    ("image", "embedding.projection.weight", "embedding.output"),
    ("image", "encoder.blocks.1.feed_forward.w_1.bias", "encoder.blocks.1.feed_forward.hidden"),
    ("series", "embedding.projection.bias", "embedding.output"),
    ("series", "encoder.blocks.2.self_attention.w_v.weight", "encoder.blocks.2.self_attention.v"),
    ("series", "head.output.bias", "head.output"),
    ("vectors", "encoder.blocks.0.self_attention.w_q.weight", "encoder.blocks.0.self_attention.q"),
    ("queries", "target_embedding.weight", "target_embedding.output"),
    ("queries", "decoder.blocks.1.cross_attention.w_k.weight", "decoder.blocks.1.cross_attention.k"),
    ("queries", "head.output.weight", "head.logits"),
    ("queries for texts", "decoder.blocks.0.self_attention.w_q.weight", "decoder.blocks.0.self_attention.q"),
]


@pytest.mark.many
@pytest.mark.parametrize(("name", "weight", "tap"), PLACES)
def test_one_weight_in_one_layer_is_named_at_its_tap(name: str, weight: str, tap: str | None) -> None:
    ids = torch.arange(23).reshape(1, 23)[:, -15:] if name in ("encoder", "bert") else None  # every last id is there
    found = compare(made(name), changed(name, weight), ids)
    if tap is None:  # the last place of a table that no input reaches
        assert found.identical
        return
    assert found.first is not None and found.first.tap == tap
    order = [each.tap for each in found.taps]
    assert all(each.largest == 0.0 for each in found.taps[: order.index(tap)])
    assert found.parting is None and not found.same and not found.identical


def test_the_difference_is_the_one_that_the_taps_show() -> None:
    a, b = made("decoder"), changed("decoder", "decoder.blocks.1.feed_forward.w_2.weight")
    ids = torch.tensor([[3, 1, 4, 1, 5]])
    found = compare(a, b, ids)
    traces = []
    for model in (a.eval(), b.eval()):
        with torch.no_grad(), gf.record(model) as trace:
            model(ids)
        traces.append(trace)
    assert [each.tap for each in found.taps] == traces[0].names()
    for each in found.taps:
        one, other = (trace[each.tap].double() for trace in traces)
        assert each.largest == (one - other).abs().max().item()
        assert each.relative == each.largest / max(one.abs().max().item(), other.abs().max().item())
        assert (one[each.at].item(), other[each.at].item()) == (each.a, each.b)


def test_a_tolerance_lets_small_differences_pass() -> None:
    a, b = made("decoder"), changed("decoder", "decoder.blocks.1.feed_forward.w_2.weight")
    exact = compare(a, b)
    assert exact.first is not None
    above, below = (compare(a, b, tolerance=exact.worst.relative * factor) for factor in (1.01, 0.99))
    assert above.first is None and above.same and not above.identical
    assert below.first is not None


@pytest.mark.parametrize("tolerance", [-1e-9, math.nan])
def test_a_tolerance_that_is_none(tolerance: float) -> None:
    with pytest.raises(InputError, match=r"tolerance=.* is not a tolerance; use 0 or more"):
        compare(made("decoder"), made("decoder"), tolerance=tolerance)


def test_padding_does_not_take_part() -> None:
    a, b = made("encoder"), made("encoder")
    with torch.no_grad():
        b.get_parameter("embedding.weight")[0] += 1.0  # the id that pads the built-in batch
    assert compare(a, b).identical


def test_the_kernel_changes_rounding_alone() -> None:
    a, b = made("translator"), gf.build(SIZES | MODELS["translator"], seed=1, kernel="reference")
    assert compare(a, b, tolerance=1e-5).same


def test_structures_part_where_one_has_another_layer() -> None:
    found = compare(made("encoder"), made("encoder", n_encoder_layers=2))
    assert found.parting is not None and not found.same
    assert (found.parting.a, found.parting.b) == ("encoder.blocks.2.self_attention.q", "encoder.output")
    assert found.counts[0] > found.counts[1] == len(found.taps)


def test_structures_part_where_a_shape_differs() -> None:
    a, b = made("encoder"), made("encoder", d_ff=24)
    b.load_state_dict({k: v for k, v in a.state_dict().items() if "feed_forward.w" not in k}, strict=False)
    found = compare(a, b)
    assert found.parting is not None and found.first is not None
    assert found.parting.a == found.parting.b == "encoder.blocks.0.feed_forward.hidden"
    assert (found.parting.shape_a, found.parting.shape_b) == ((3, 9, 20), (3, 9, 24))
    assert found.first.tap == "encoder.blocks.0.feed_forward.output"


def test_families_part_behind_the_embedding() -> None:
    a, b = made("encoder"), made("decoder")
    b.load_state_dict({"embedding.weight": a.get_parameter("embedding.weight")}, strict=False)
    found = compare(a, b)
    assert found.parting is not None and [each.tap for each in found.taps] == ["embedding.output"]
    assert found.first is None and not found.identical and not found.same
    assert (found.parting.a, found.parting.b) == ("encoder.positions.encoding", "decoder.positions.encoding")


def test_a_translator_beside_a_decoder() -> None:
    for one, other in (("translator", "decoder"), ("decoder", "translator")):
        found = compare(made(one), made(other))
        assert found.parting is not None and found.parting.number == 1


def test_queries_beside_words() -> None:
    """They share the encoder, and nothing could be given to both decoders."""
    with pytest.raises(InputError, match=r"A reads queries, B reads tokens: no input fits both"):
        compare(made("queries for texts"), made("translator"))
    fewer = compare(made("queries"), made("queries", queries=3))
    assert fewer.parting is not None and (fewer.parting.a, fewer.parting.shape_b) == (
        "target_embedding.output",
        (3, 3, 12),
    )


def test_vocabularies_of_two_sizes() -> None:
    found = compare(made("decoder"), made("decoder", vocab_size=11))
    assert found.parting is not None and found.parting.a == found.parting.b == "head.logits"
    assert (found.parting.shape_a[-1], found.parting.shape_b[-1]) == (23, 11)
    assert found.answers is not None and found.answers.total == 18  # the real places of 3 rows


def test_answers() -> None:
    a, b = made("decoder"), made("decoder")
    same = compare(a, b).answers
    assert same is not None and (same.changed, same.total) == (0, 18)
    with torch.no_grad():
        b.get_parameter("embedding.weight").neg_()
        b.get_parameter("decoder.blocks.0.self_attention.w_q.weight").mul_(3.0)
    other = compare(a, b).answers
    assert other is not None and other.changed > 0 and other.first is not None
    assert compare(made("series"), made("series")).answers is None


def test_nothing_about_the_models_changes() -> None:
    a, b = made("decoder", dropout=0.5), made("decoder", dropout=0.5).eval()
    a.train()
    a.get_submodule("decoder.blocks.1").eval()
    before = {name: module.training for name, module in a.named_modules()}
    assert compare(a, b).identical  # no dropout
    assert {name: module.training for name, module in a.named_modules()} == before
    assert not any(module.training for module in b.modules())
    assert not any(module._forward_hooks for module in a.modules())


def test_another_type_of_numbers_is_said() -> None:
    found = compare(made("decoder"), made("decoder").double(), tolerance=1e-5)
    assert found.same and not found.identical
    assert [note.say("en") for note in found.notes] == ["A computes in float32, B in float64"]
    image = compare(made("image").double(), made("image").double())
    assert image.identical


@pytest.mark.slow
def test_names_presets_and_folders(tmp_path: Path) -> None:
    found = compare("small-decoder", "small-decoder")
    assert found.identical and (found.a, found.b) == ("small-decoder", "small-decoder")
    folder = trained(tmp_path)
    texts = ["나는 학교에 간다", "우리는 바다에 간다"]
    assert compare(folder, gf.load(folder), texts).identical
    with pytest.raises(InputError, match="no tokenizer"):
        compare("small-translator", "small-translator", texts)
    with pytest.raises(ConfigError, match="smal-decoder"):
        compare("smal-decoder", "small-decoder")


def test_one_text_is_a_text(tmp_path: Path) -> None:
    folder = trained(tmp_path)
    assert compare(folder, folder, "나는 학교에 간다").inputs[0] == 1


def test_a_second_tokenizer_that_splits_in_another_way_is_said(tmp_path: Path) -> None:
    one = gf.load(trained(tmp_path))
    framed = replace(one.config, text=replace(one.config.text, begin="cls"))
    other = replace(one, config=framed)  # the same model, another frame
    found = compare(one, other, ["나는 학교에 간다"])
    assert found.identical
    assert [note.say("en") for note in found.notes] == [
        "small-run splits these texts in another way; both were given the ids of small-run"
    ]


def test_what_is_no_model_of_ours() -> None:
    with pytest.raises(InputError, match="'Linear' is not a whole model of ours"):
        compare(made("decoder"), nn.Linear(2, 2))
    with pytest.raises(InputError, match="'Encoder' is not a whole model of ours"):
        compare(gf.Encoder(d_model=8, n_heads=2, d_ff=8, n_layers=1), made("decoder"))
