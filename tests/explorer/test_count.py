from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import glassformer as gf
from explorer_client import client, foreign, tiny_run


def asked(**more: Any) -> Any:
    run = tiny_run("translation")
    return client(run).post("/api/count?lang=en", json={"model": run.name, **more})


def test_counts_are_those_of_gf_count_and_gf_plan() -> None:
    config = gf.load(tiny_run("translation")).config.model
    found = asked(set={"d_model": 48, "n_heads": 4, "layers": 3}, batch=4, length=16, device="l4").json()
    keys = {"d_model": 48, "n_heads": 4, "layers": 3}
    ledger = gf.count(config, run=gf.Pass(batch=4, length=16), **keys)
    assert found["total"]["parameters"] == ledger.total.parameters
    assert sum(part["parameters"] for part in found["parts"]) == ledger.total.parameters
    assert found["flops_total"]["forward"] == sum(cost.forward for cost in ledger.costs.values())
    assert ledger.memory is not None and found["memory"]["peak_bytes"] == ledger.memory.peak
    plan = gf.plan(config, tokens="1B", device="l4", job=gf.Job(batch=4, length=16), **keys)
    assert found["plan"]["fits"] == plan.fits and found["plan"]["bytes"] == plan.memory_bytes
    assert found["sizes"]["layers"] == 3


def test_without_a_change_it_is_the_model_itself() -> None:
    model = gf.load(tiny_run("translation")).model
    assert asked().json()["total"]["parameters"] == sum(each.numel() for each in model.parameters())


@pytest.mark.parametrize("kind", ["translation", "image_classification", "forecasting"])
def test_every_part_and_every_sum_is_that_of_the_ledger(kind: str) -> None:
    run = tiny_run(kind)
    found = client(run).post("/api/count", json={"model": run.name, "set": {"layers": 2, "d_ff": 40}}).json()
    ledger = gf.count(gf.load(run).config.model, layers=2, d_ff=40)
    assert [(one["name"], one["parameters"]) for one in found["parts"]] == [
        (row.name, row.parameters) for row in ledger.parts
    ]
    assert {one["name"] for one in found["groups"]} >= {"encoder", "encoder.blocks.1.self_attention"}
    for one in found["groups"]:
        assert one["parameters"] == ledger.part(one["name"]).parameters
        assert one["share"] == one["parameters"] / ledger.total.parameters
    assert ("vocab_size" in found["sizes"]) == (kind == "translation")


@pytest.mark.parametrize("name", ["bert", "llama", "t5"])
def test_of_an_imported_model_too(name: str) -> None:
    folder = foreign(name)
    found = client(folder).post("/api/count", json={"model": folder.name, "set": {"d_model": 32}}).json()
    config = replace(gf.load(folder).config.model, d_k=None, d_v=None)
    assert found["total"]["parameters"] == gf.count(config, d_model=32).total.parameters
    segments = [one for one in found["groups"] if one["name"] == "embedding"]
    assert [one["parameters"] for one in segments] == ([157 * 32 + 2 * 32] if name == "bert" else [])


def test_sizes_that_do_not_fit_together_are_refused_in_the_words_of_the_library() -> None:
    config = gf.load(tiny_run("translation")).config.model
    with pytest.raises(gf.GlassformerError, match="does not divide") as refused:
        gf.count(config, n_heads=5)
    assert asked(set={"n_heads": 5}).json() == {"refused": refused.value.in_language("en")}
    assert "max_len" in asked(length=1000).json()["refused"]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"set": {"layers": 100_000}}, "layers"),
        ({"set": {"colour": 3}}, "which nobody reads"),
        ({"device": "abacus"}, "abacus"),
    ],
)
def test_a_request_that_nobody_can_read_is_refused(more: dict[str, Any], says: str) -> None:
    answer = asked(**more)
    assert answer.status_code == 422 and says in answer.json()["error"]


def test_a_model_without_a_vocabulary_has_no_size_of_one() -> None:
    run = tiny_run("image_classification")
    sizes = client(run).post("/api/count", json={"model": run.name}).json()["sizes"]
    assert "vocab_size" not in sizes and sizes["d_model"] == gf.load(run).config.model.d_model
