from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import glassformer as gf
from explorer_client import CASES, INPUTS, client, foreign, tiny_run, traced
from glassformer.explorer.shelf import Shelf

WEIGHTS = "encoder.blocks.0.self_attention.weights"
CROSS = "decoder.blocks.0.cross_attention"
EDITS: dict[str, list[dict[str, Any]]] = {
    "zero a head": [{"kind": "zero", "name": "*.heads", "head": 1}],
    "zero a number": [{"kind": "zero", "name": "encoder.output", "row": 1, "column": 3}],
    "scale a row": [{"kind": "scale", "name": f"{CROSS}.heads", "head": 0, "row": 0, "factor": 2.5}],
    "scale a number": [{"kind": "scale", "name": WEIGHTS, "head": 1, "row": 0, "column": 1, "factor": 3}],
    "replace": [{"kind": "replace", "name": "encoder.blocks.0.feed_forward.output", "value": 0.25}],
    "replace a column": [{"kind": "replace", "name": "encoder.input", "column": 2, "value": -1}],
    "forbid a cell": [{"kind": "forbid", "name": CROSS, "head": 0, "row": 0, "column": 1}],
    "forbid a column twice": [
        {"kind": "forbid", "name": "*.cross_attention", "column": 1},
        {"kind": "forbid", "name": CROSS, "column": 2},
    ],
    "draw": [{"kind": "draw", "name": f"{CROSS}.weights", "row": 0, "column": 1, "value": 0.75}],
    "skip": [{"kind": "skip", "name": "encoder.blocks.0.output"}],
    "residual": [{"kind": "residual", "name": "encoder.blocks.0.after_self_attention"}],
    "residual of the network": [{"kind": "residual", "name": "decoder.blocks.0.output"}],
    "one after the other": [
        {"kind": "replace", "name": "encoder.output", "row": 0, "value": 1},
        {"kind": "scale", "name": "encoder.output", "factor": 2},
        {"kind": "zero", "name": "encoder.output", "row": 1},
    ],
}


def outcome(code: str) -> Any:
    """What the code computes in a namespace of its own."""
    space: dict[str, Any] = {}
    exec(compile(code, "snippet", "exec"), space)
    return space["number"]


def ask(run: Path, given: dict[str, Any], **more: Any) -> dict[str, Any]:
    answer = client(run).post("/api/snippet", json={"model": run.name, "input": given, **more})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.parametrize(("kind", "order"), CASES)
def test_it_gives_the_numbers_of_the_page(kind: str, order: str) -> None:
    """One number of a map, one of a stream, a whole row, and the answer; the page shows what its trace holds."""
    run, given = tiny_run(kind, order), INPUTS[kind]
    shown = traced(client(run), run.name, given).tensors
    stack = "encoder" if "encoder.input" in shown else "decoder"
    attention = f"{stack}.blocks.0.self_attention.weights"
    for name, index in ((attention, [1, 0, 0]), (f"{stack}.blocks.0.output", [0, 2]), (f"{stack}.output", [0])):
        found = ask(run, given, name=name, index=index)
        number, expected = torch.as_tensor(outcome(found["code"])), shown[name][tuple(index)].float()
        close = 1e-3 if name == attention else 1e-5  # maps travel in float16
        assert torch.allclose(number.float(), expected, rtol=close, atol=close)
        assert found["shape"] == list(expected.shape)
        if found["value"] is not None:
            assert float(number) == pytest.approx(found["value"], rel=1e-6)
    about = traced(client(run), run.name, given).about["output"]
    found = ask(run, given)
    number = outcome(found["code"])
    match about:
        case {"top": [*_, last]}:
            assert number == pytest.approx(last[0]["p"], rel=1e-5)
        case {"classes": classes}:
            assert number == pytest.approx(max(one["p"] for one in classes), rel=1e-5)
        case {"numbers": numbers}:
            assert number.tolist() == pytest.approx(numbers, rel=1e-5)
        case {"objects": objects}:
            assert len(number) == len(objects)


@pytest.mark.parametrize("order", ["pre", "post"])
@pytest.mark.parametrize("edits", EDITS.values(), ids=EDITS)
def test_each_kind_of_edit_gives_the_numbers_of_the_page(edits: list[dict[str, Any]], order: str) -> None:
    run, given = tiny_run("translation", order), INPUTS["translation"]
    asked = client(run)
    shown, plain = (traced(asked, run.name, given, edits=some) for some in (edits, []))
    for name in (f"{CROSS}.weights", f"{CROSS}.scores", "decoder.blocks.0.output"):
        found = ask(run, given, edits=edits, name=name)
        number: Tensor = outcome(found["code"])
        close = 1e-5 if name.endswith("output") else 2e-3
        assert torch.allclose(number, shown.tensors[name].float(), rtol=close, atol=close), name
    answer = ask(run, given, edits=edits, row=0)
    assert outcome(answer["code"]) == pytest.approx(shown.about["output"]["top"][0][0]["p"], rel=1e-5)
    assert not torch.equal(shown.tensors["decoder.output"], plain.tensors["decoder.output"])


@pytest.mark.parametrize("name", ["bert", "gpt2", "llama"])
def test_an_imported_model_and_what_is_recorded_twice(name: str) -> None:
    folder = foreign(name)
    given = {"text": "the cat"}
    shown = traced(client(folder), folder.name, given).tensors
    for tensor in [one for one in sorted(shown) if not one.endswith(".mask")][::6]:
        index = [0] * (shown[tensor].dim())
        found = ask(folder, given, name=tensor, index=index)
        close = 1e-3 if tensor.endswith(("scores", "weights")) else 1e-5  # maps travel in float16
        assert outcome(found["code"]) == pytest.approx(float(shown[tensor][tuple(index)]), rel=close)
    run = tiny_run("translation")
    found = ask(run, INPUTS["translation"], name="embedding.output#2", index=[1, 1])
    assert outcome(found["code"]) == pytest.approx(found["value"], rel=1e-6)


def test_a_model_of_the_package_is_named_and_a_checkpoint_too() -> None:
    found = client(packaged=True).post("/api/snippet", json={"model": "ko-en", "input": {"text": "나는 학교에 간다"}})
    assert 'gf.load("ko-en")' in found.json()["code"]
    assert outcome(found.json()["code"]) == pytest.approx(found.json()["value"], rel=1e-6)
    run = tiny_run("translation")
    steps = [str(int(path.name[5:])) for path in gf.load(run).checkpoint.parent.glob("step-*")]
    for checkpoint in steps[:1]:
        code = ask(run, INPUTS["translation"], checkpoint=checkpoint)["code"]
        assert f'checkpoint="{checkpoint}"' in code
        outcome(code)


def test_a_folder_is_given_as_it_was_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = tiny_run("translation")
    (tmp_path / "ko-en").symlink_to(run)
    monkeypatch.chdir(tmp_path)
    named = Shelf([Path("ko-en"), "ko-en", str(run)], packaged=False)
    assert [one.spoken for one in named] == ["./ko-en", "ko-en", str(run)]


def test_drawn_pixels_and_long_texts_are_written_out() -> None:
    run = tiny_run("image_classification")
    pixels = [[0.5, 0.25], [0.125, 1.0]]
    found = ask(run, {"pixels": pixels}, name="encoder.output", index=[0, 0])
    assert outcome(found["code"]) == pytest.approx(found["value"], rel=1e-6)


def test_a_number_too_large_for_float32_is_refused() -> None:
    endless = [{"kind": "replace", "name": "encoder.output", "value": 1e300}]
    run = tiny_run("translation")
    asked = {"model": run.name, "input": INPUTS["translation"], "name": "encoder.output", "index": [0, 0]}
    answer = client(run).post("/api/snippet?lang=en", json=asked | {"edits": endless})
    assert answer.status_code == 422 and "between −1e15 and 1e15" in answer.json()["error"]


@pytest.mark.parametrize(("name", "index"), [("encoder.output", [0, 0, 0]), ("encoder.output", [999]), ("nothing", [])])
def test_what_is_not_there_is_refused(name: str, index: list[int]) -> None:
    run = tiny_run("translation")
    asked = {"model": run.name, "input": INPUTS["translation"], "name": name, "index": index}
    answer = client(run).post("/api/snippet?lang=en", json=asked)
    assert answer.status_code == 422 and name in answer.json()["error"]
    late = {"model": run.name, "input": INPUTS["translation"], "row": 99}
    assert client(run).post("/api/snippet?lang=en", json=late).status_code == 422
