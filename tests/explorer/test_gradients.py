from __future__ import annotations

from typing import Any

import pytest
import torch

import glassformer as gf
from explorer_client import INPUTS, client, tiny_run
from glassformer.explorer.inputs import read


def asked(kind: str, **more: Any) -> Any:
    run = tiny_run(kind)
    return client(run).post("/api/gradients?lang=en", json={"model": run.name, "input": INPUTS[kind], **more})


def test_the_gradient_is_that_of_the_log_probability() -> None:
    found = asked("translation", row=0, choice=5).json()
    loaded = gf.load(tiny_run("translation"))
    given = read(loaded, INPUTS["translation"])
    with gf.record(loaded.model, gradients=True) as trace:
        (-given.run(loaded.model, given.inputs)[0, 0].log_softmax(-1)[5]).backward()
    for side in found["sides"]:
        slope, x = -trace.gradient(f"{side['stack']}.input")[0], trace[f"{side['stack']}.input"][0]
        assert side["norm"] == pytest.approx(slope.norm(dim=-1).tolist(), rel=1e-3, abs=1e-7)
        assert side["times_input"] == pytest.approx((slope * x).sum(-1).tolist(), rel=1e-3, abs=1e-5)
    across = trace.attention("cross_attention")
    assert found["sides"][0]["attention"][-1] == pytest.approx(across[-1][0, :, 0].mean(0).tolist(), rel=1e-4)


def test_a_small_step_along_the_gradient_changes_the_output_as_it_says() -> None:
    found = asked("classification").json()
    loaded = gf.load(tiny_run("classification"))
    given = read(loaded, INPUTS["classification"])
    with torch.no_grad():
        before = given.run(loaded.model, given.inputs)[0].log_softmax(-1)
        with gf.edit(loaded.model, {"encoder.input": gf.scale(1.001)}):
            after = given.run(loaded.model, given.inputs)[0].log_softmax(-1)
    moved = float(after[found["choice"]] - before[found["choice"]])
    assert moved == pytest.approx(0.001 * sum(found["sides"][0]["times_input"]), rel=0.1, abs=2e-6)


@pytest.mark.parametrize("kind", ["language_model", "masked_language_model", "image_classification", "forecasting"])
def test_every_single_output_has_a_gradient(kind: str) -> None:
    found = asked(kind)
    assert found.status_code == 200, found.text
    (side,) = found.json()["sides"]
    assert len(side["norm"]) == len(side["tokens"]) == len(side["attention"][0]) and max(side["norm"]) > 0


def test_what_cannot_be_asked() -> None:
    assert "there is no single output" in asked("object_queries").json()["error"]
    assert "is beyond the last" in asked("translation", row=10_000).json()["error"]
