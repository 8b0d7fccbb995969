from __future__ import annotations

from typing import Any

import pytest
import torch
from scipy.stats import spearmanr

import glassformer as gf
from explorer_client import INPUTS, client, foreign, tiny_run
from glassformer.explorer.gradients import rank_agreement
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


@pytest.mark.parametrize("order", ["pre", "post"])
def test_the_agreement_is_that_of_the_ranks(order: str) -> None:
    run = tiny_run("language_model", order)
    given = {"text": "the old man sees the"}
    found = client(run).post("/api/gradients", json={"model": run.name, "input": given, "row": 3}).json()
    (side,) = found["sides"]
    for layer, attention in enumerate(side["attention"]):
        for key in ("norm", "times_input"):
            expected = spearmanr(attention[:4], [abs(one) for one in side[key][:4]]).statistic
            assert side["agreement"][key][layer] == pytest.approx(expected, abs=1e-6)
    assert side["attention"][0][4:] == [0] * (len(side["tokens"]) - 4)


def test_equal_numbers_share_their_rank() -> None:
    one, other = [0.1, 0.3, 0.3, 0.0, 0.2], [4.0, 4.0, 1.0, 2.0, 3.0]
    assert rank_agreement(torch.tensor(one), torch.tensor(other)) == pytest.approx(spearmanr(one, other).statistic)
    assert rank_agreement(torch.ones(4), torch.arange(4.0)) is None
    assert rank_agreement(torch.arange(2.0), torch.arange(2.0)) is None


def test_a_pooled_answer_is_asked_from_every_row() -> None:
    found = asked("classification").json()
    loaded = gf.load(tiny_run("classification"))
    given = read(loaded, INPUTS["classification"])
    with torch.no_grad(), gf.record(loaded.model) as trace:
        given.run(loaded.model, given.inputs)
    (side,) = found["sides"]
    looked = trace["encoder.blocks.0.self_attention.weights"][0].mean((0, 1))
    assert found["asking"] == [*range(len(looked))]
    assert side["attention"][0] == pytest.approx(looked.tolist(), rel=1e-4)


def test_the_gradient_of_a_pass_that_is_changed() -> None:
    off = {"name": "encoder.blocks.*.self_attention.heads", "kind": "zero"}
    found = asked("image_classification", edits=[off]).json()
    loaded = gf.load(tiny_run("image_classification"))
    given = read(loaded, INPUTS["image_classification"])
    with gf.edit(loaded.model, {off["name"]: gf.zero()}), gf.record(loaded.model, gradients=True) as trace:
        (-given.run(loaded.model, given.inputs)[0].log_softmax(-1)[found["choice"]]).backward()
    expected = trace.gradient("encoder.input")[0].norm(dim=-1)
    assert found["sides"][0]["norm"] == pytest.approx(expected.tolist(), rel=1e-3, abs=1e-7)
    assert found["sides"][0]["norm"] != asked("image_classification").json()["sides"][0]["norm"]


def test_a_body_without_a_head_has_no_answer() -> None:
    folder = foreign("bert body")
    answer = client(folder).post("/api/gradients?lang=en", json={"model": folder.name, "input": {"text": "a b"}})
    assert answer.status_code == 422 and "no single output" in answer.json()["error"]


def test_what_cannot_be_asked() -> None:
    assert "there is no single output" in asked("object_queries").json()["error"]
    assert "is beyond the last" in asked("translation", row=10_000).json()["error"]
