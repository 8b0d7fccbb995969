from __future__ import annotations

import pytest
import torch

import glassformer as gf
from explorer_client import INPUTS, client, tiny_run
from glassformer.explorer.inputs import read


@pytest.mark.parametrize("order", ["pre", "post"])
def test_the_last_layer_says_what_the_model_says_and_the_others_go_through_the_same_head(order: str) -> None:
    run = tiny_run("translation", order)
    found = client(run).post("/api/lens", json={"model": run.name, "input": INPUTS["translation"]}).json()
    loaded = gf.load(run)
    given = read(loaded, INPUTS["translation"])
    with torch.no_grad(), gf.record(loaded.model) as trace:
        shares = given.run(loaded.model, given.inputs)[0].softmax(-1)
    assert [one["id"] for one in found["answers"]] == shares.argmax(-1).tolist()
    assert found["p"][-1] == pytest.approx(shares.amax(-1).tolist(), rel=1e-5)
    model = loaded.model
    x = trace["decoder.blocks.0.output"]
    x = x if model.decoder.final_norm is None else model.decoder.final_norm(x)
    first = model.head(x, None, model.embedding.weight)[0].softmax(-1).detach()
    answers = shares.argmax(-1)
    assert found["p"][1] == pytest.approx([float(first[i, a]) for i, a in enumerate(answers)], rel=1e-4)
    assert len(found["p"]) == found["layers"] + 1 == len(found["top"])
    for row, appears in enumerate(found["appears"]):
        ranks = [layer[row] for layer in found["rank"]]
        assert all(rank == 0 for rank in ranks[appears:]) and (appears == 0 or ranks[appears - 1] > 0)


@pytest.mark.parametrize("kind", ["classification", "image_classification", "masked_language_model", "language_model"])
def test_every_head_that_names_something_has_a_lens(kind: str) -> None:
    run = tiny_run(kind)
    found = client(run).post("/api/lens", json={"model": run.name, "input": INPUTS[kind]})
    assert found.status_code == 200, found.text
    assert len(found.json()["answers"]) == len(found.json()["positions"])


def test_a_forecaster_has_none() -> None:
    run = tiny_run("forecasting")
    refused = client(run).post("/api/lens?lang=en", json={"model": run.name, "input": {"example": 0}})
    assert refused.status_code == 422 and "needs a head that names tokens or classes" in refused.json()["error"]
