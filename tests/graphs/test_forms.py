from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

import glassformer as gf
from exported_graphs import need_onnx
from glassformer.config.recipe import RunConfig
from glassformer.config.values import Choice
from glassformer.errors import ConfigError
from glassformer.graphs.forms import graphs_of
from glassformer.graphs.write import axis_sizes, largest_difference, write_graph
from tiny_tasks import tiny

FORMS: list[tuple[str, dict[str, Any]]] = [
    ("language_model", {"position": "rotary", "n_kv_heads": 1, "norm": "rms", "feed_forward": "gated"}),
    ("language_model", {"position": {"kind": "rotary", "scaling": "dynamic", "factor": 2.0, "original_max_len": 4}}),
    ("language_model", {"position": "alibi", "window": 3, "d_v": 7, "norm_order": "parallel", "qk_norm": True}),
    ("translation", {"position": "relative", "n_kv_heads": 1, "tie_embeddings": "none"}),
    (
        "classification",
        {"position": "none", "head": {"kind": "classifier", "pool": "sep", "pooler": True, "classes": 3}},
    ),
    ("classification", {"window": 2, "segments": 2, "head": {"kind": "classifier", "pool": "max", "classes": 3}}),
]


def sized(kind: str, model: dict[str, Any]) -> RunConfig:
    """A recipe whose vocabulary has a size, as in a run."""
    config = tiny(kind, model=model)
    return replace(config, model=replace(config.model, vocab_size=50))


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "model"), FORMS)
def test_every_box_becomes_a_graph(kind: str, model: dict[str, Any], tmp_path: Any) -> None:
    need_onnx()
    config = sized(kind, model)
    for graph in graphs_of(gf.build(config.model, seed=0).eval(), config):
        write_graph(graph, tmp_path / "model.onnx")
        assert 0 < largest_difference(graph, tmp_path / "model.onnx") <= 1e-5


@torch.inference_mode()
def test_the_sides_of_a_translator_together_are_the_model() -> None:
    config = sized("translation", {})
    model = gf.build(config.model, seed=0).eval()
    encoder, decoder = graphs_of(model, config)
    source, real = encoder.samples(axis_sizes(3, 4, 0, 6))
    tokens, *_ = decoder.samples(axis_sizes(3, 4, 0, 6))
    memory = encoder.module(source, real)
    assert dict(zip(encoder.outputs, memory, strict=True)).keys() == {"memory_k_0", "memory_v_0"}
    empty = [torch.zeros(3, 2, 0, 16)] * 2
    logits, k, _ = decoder.module(tokens, real, *memory, *empty)
    assert torch.allclose(logits, model(source, tokens, real), atol=1e-6)
    assert (decoder.outputs, k.shape) == (("logits", "all_k_0", "all_v_0"), (3, 2, 4, 16))


def test_a_sample_has_the_type_and_the_range_of_its_input() -> None:
    config = sized("classification", {"segments": 2, "head": {"kind": "classifier", "classes": 3}})
    (graph,) = graphs_of(gf.build(config.model, seed=0), config)
    tokens, real, segments = graph.samples(axis_sizes(2, 40, 0, 1))
    assert (tokens.dtype, real.dtype, segments.dtype) == (torch.int64, torch.bool, torch.int64)
    assert int(tokens.max()) < 50 and set(segments.unique().tolist()) == {0, 1}
    assert not real[0].all() and real[0, -1] and real[1].all()


def test_a_head_that_fixes_the_length_of_a_text_is_refused() -> None:
    config = sized("classification", {"head": {"kind": "classifier", "classes": 3}})
    head = Choice("classifier", {"pool": "flatten", "classes": 3})
    flat = replace(config, model=replace(config.model, head=head))
    with pytest.raises(ConfigError, match=r"head\.pool=flatten fixes the length of a text") as refused:
        graphs_of(gf.build(config.model, seed=0), flat)
    assert "head.pool=flatten" in refused.value.in_language("ko")
