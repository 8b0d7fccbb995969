from __future__ import annotations

import math

import pytest

from explorer_client import INPUTS, client, tiny_run


def test_a_norm_says_its_mean_deviation_scale_and_shift() -> None:
    run = tiny_run("translation")
    question = {"model": run.name, "input": INPUTS["translation"]}
    why = client(run).post("/api/why", json=question | {"name": "encoder.output", "index": [1, 2]}).json()
    terms = {term["label"]: term["value"] for term in why["terms"]}
    x = next(term["value"] for term in why["terms"] if term["name"])
    by_hand = terms["γ"] * (x - terms["μ"]) / terms["σ"] + terms.get("β", 0.0)
    assert by_hand == pytest.approx(why["value"], rel=1e-4)
    assert math.isfinite(by_hand)
