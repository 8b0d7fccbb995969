from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

import glassformer as gf
from explorer_client import INPUTS, client, foreign, tiny_run
from glassformer.explorer import sweep
from glassformer.explorer.inputs import read
from glassformer.loading import Loaded


def answer(loaded: Loaded, given: dict[str, Any], edits: Any = None) -> Tensor:
    """A pass with the Python interface alone, one head at a time."""
    inputs = read(loaded, given)
    with torch.no_grad(), gf.edit(loaded.model, edits or {}):
        return inputs.run(loaded.model, inputs.inputs)[0].double()


def apart(measure: str, one: Tensor, other: Tensor) -> float:
    """The measure, written a second time."""
    match measure:
        case "distribution":
            return float((one.softmax(-1) - other.softmax(-1)).abs().sum(-1).mean() / 2)
        case "numbers":
            return float((one - other).abs().mean())
        case "objects":
            classes = (one[..., :-4].softmax(-1) - other[..., :-4].softmax(-1)).abs().sum(-1) / 2
            return float((classes + (one[..., -4:] - other[..., -4:]).abs().mean(-1)).mean())
    return float(((one - other).norm(dim=-1) / one.norm(dim=-1)).mean())


@pytest.mark.parametrize("kind", INPUTS)
def test_every_head_is_switched_off_as_gf_does_it(kind: str) -> None:
    run = tiny_run(kind)
    found = client(run).post("/api/sweep", json={"model": run.name, "input": INPUTS[kind]}).json()
    loaded = gf.load(run)
    before = answer(loaded, INPUTS[kind])
    assert [one["name"] for one in found["attentions"]] == sweep.attentions(loaded.model)
    for one in found["attentions"]:
        for head, moved in enumerate(one["moved"]):
            after = answer(loaded, INPUTS[kind], {f"{one['name']}.heads": gf.zero(head=head)})
            assert moved == pytest.approx(apart(found["measure"], before, after), abs=1e-5)
            assert moved == pytest.approx(sum(one["by_row"][head]) / len(one["by_row"][head]), abs=1e-6)


def test_a_model_without_a_head_is_measured_by_its_vectors() -> None:
    folder, given = foreign("bert body"), {"text": "the cat"}
    asked = {"model": folder.name, "input": given, "attention": "encoder.blocks.0.self_attention"}
    found = client(folder).post("/api/sweep", json=asked).json()
    assert found["measure"] == "vectors" and len(found["attentions"]) == 1
    loaded = gf.load(folder)
    after = answer(loaded, given, {"encoder.blocks.0.self_attention.heads": gf.zero(head=1)})
    moved = apart("vectors", answer(loaded, given), after)
    assert found["attentions"][0]["moved"][1] == pytest.approx(moved, rel=1e-4)


def test_edits_of_the_request_stay_in_force() -> None:
    run, given = tiny_run("translation"), INPUTS["translation"]
    off = {"name": "encoder.blocks.0.self_attention.heads", "kind": "zero"}
    asked = {"model": run.name, "input": given, "edits": [off]}
    found = client(run).post("/api/sweep", json=asked).json()["attentions"]
    assert found[0]["moved"] == [0.0] * len(found[0]["moved"])  # they are off already
    assert min(found[-1]["moved"]) > 0


def test_heads_beyond_the_memory_of_one_pass_follow_in_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    run, given = tiny_run("translation"), INPUTS["translation"]
    asked = {"model": run.name, "input": given}
    whole = client(run).post("/api/sweep", json=asked).json()["attentions"]
    monkeypatch.setattr(sweep, "MOST_NUMBERS", 1)
    for one, other in zip(whole, client(run).post("/api/sweep", json=asked).json()["attentions"], strict=True):
        assert one["moved"] == pytest.approx(other["moved"], abs=1e-6)


def test_a_single_logit_is_that_of_the_second_of_two_classes() -> None:
    moved = sweep.apart("distribution", torch.tensor([[0.0]]), torch.tensor([[0.0], [20.0]]))
    assert moved.tolist() == [[0.0], [pytest.approx(0.5)]]


def test_an_attention_that_the_model_lacks_is_named() -> None:
    run = tiny_run("classification")
    asked = {"model": run.name, "input": INPUTS["classification"], "attention": "encoder.blocks.7.self_attention"}
    answered = client(run).post("/api/sweep", json=asked, headers={"accept-language": "en"})
    assert answered.status_code == 422 and "encoder.blocks.7.self_attention" in answered.json()["error"]


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        ({"kind": "residual", "name": "encoder.blocks.0.self_attention.output"}, "is not the sum after a sub-layer"),
        ({"kind": "residual", "name": "encoder.final_norm.output"}, "is not the sum after a sub-layer"),
        ({"kind": "skip", "name": "decoder.input"}, "only a layer can be skipped"),
        ({"kind": "skip", "name": "encoder.blocks.0.output", "head": []}, "head=[] is of the wrong type"),
    ],
)
def test_an_edit_that_does_not_fit_is_one_line(edit: dict[str, Any], says: str) -> None:
    run = tiny_run("translation")
    body = {"model": run.name, "input": INPUTS["translation"], "edits": [edit]}
    answer = client(run).post("/api/sweep?lang=en", json=body)
    assert answer.status_code == 422 and says in answer.json()["error"]


def test_a_request_without_an_input_is_one_line() -> None:
    run = tiny_run("image_classification")
    answer = client(run).post("/api/sweep?lang=en", json={"model": run.name})
    assert answer.status_code == 422 and "no input" in answer.json()["error"]
