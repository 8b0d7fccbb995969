from __future__ import annotations

from typing import Any

import pytest

import glassformer as gf
from explorer_client import client, tiny_run


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


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"set": {"n_heads": 5}}, "does not divide"),
        ({"set": {"layers": 100_000}}, "layers"),
        ({"set": {"colour": 3}}, "which nobody reads"),
        ({"device": "abacus"}, "abacus"),
    ],
)
def test_what_does_not_fit_together_is_said_in_one_line(more: dict[str, Any], says: str) -> None:
    answer = asked(**more)
    assert answer.status_code == 422 and says in answer.json()["error"]


def test_a_model_without_a_vocabulary_has_no_size_of_one() -> None:
    run = tiny_run("image_classification")
    sizes = client(run).post("/api/count", json={"model": run.name}).json()["sizes"]
    assert "vocab_size" not in sizes and sizes["d_model"] == gf.load(run).config.model.d_model
