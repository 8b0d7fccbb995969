from __future__ import annotations

import pytest

import glassformer as gf
from glassformer.ledger.costs import Pass


def test_the_ledger_with_a_pass_shows_its_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = gf.count("paper-base", run=Pass(batch=3, length=7, target_length=5))
    english = repr(ledger)
    assert "one training pass: batch 3, length 7, target length 5, float32" in english
    assert f"{sum(cost.forward for cost in ledger.costs.values()):,}" in english
    assert "2×b×t×d_model×vocab_size" in english
    assert "decoder, all 6 layers" in english
    monkeypatch.setenv("GLASSFORMER_LANG", "ko")
    assert "순전파 FLOPs" in repr(ledger)


def test_parts_come_in_the_order_of_the_data() -> None:
    parts = list(gf.count("lesson-encoder", layers=1, run=Pass(batch=2, length=4)).costs)
    assert parts == [  # vectors need no gradient, so the first dropout keeps nothing
        "encoder.blocks.0.self_attention_norm",
        "encoder.blocks.0.self_attention.qkv",
        "encoder.blocks.0.self_attention.scores",
        "encoder.blocks.0.self_attention.w_o",
        "encoder.blocks.0.drop",
        "encoder.blocks.0.feed_forward_norm",
        "encoder.blocks.0.feed_forward",
        "encoder.final_norm",
    ]


def test_json_adds_up() -> None:
    document = gf.count("gpt2", run=Pass(length=16, dtype="bfloat16")).to_json()
    for key in ("flops_forward", "flops_backward", "saved_bytes"):
        assert document["cost_total"][key] == sum(cost[key] for cost in document["costs"]) > 0
    assert document["pass"]["dtype"] == "bfloat16"
    assert "costs" not in gf.count("gpt2").to_json()
