"""The answers that a saved page takes along are those that the server gives."""

from __future__ import annotations

import json
from typing import Any

import pytest

from explorer_client import INPUTS, client, foreign, tiny_run
from glassformer.explorer import kept
from glassformer.explorer.kept import FIRST, around, cells, reasons, usual
from glassformer.explorer.passes import run as run_pass
from glassformer.explorer.shelf import Shelf
from glassformer.loading import load

pytestmark = pytest.mark.slow


def shown(kind: str, order: str = "pre", **more: str) -> Any:
    return run_pass(load(tiny_run(kind, order)), {"input": INPUTS[kind] | more})


def test_what_does_not_depend_on_the_input() -> None:
    run = tiny_run("classification", "post")
    offered, asked = next(iter(Shelf([run], packaged=False))), client(run)
    with offered.use() as loaded:
        found = [*around(offered, loaded)]
    assert {one.path for one in found} > {"/api/models", "/api/words/ko", "/api/words/en", "/api/norm"}
    for one in found[::9]:
        answer = asked.get(one.path, params={"model": run.name, **one.body} if one.path == "/api/norm" else one.body)
        headers = {"accept-language": "en"}
        answer = asked.get(one.path, params=dict(answer.request.url.params), headers=headers)
        assert answer.json() == json.loads(one.content), one.path


@pytest.mark.parametrize("kind", ["classification", "image_classification", "forecasting"])
def test_reasons_are_those_of_the_server(kind: str) -> None:
    one, run = shown(kind), tiny_run(kind)
    found = json.loads(reasons(one, [{"name": "encoder.output", "index": [1, 9]}], (1, 0)).content)
    assert "encoder.output 1,9" in found
    asked = client(run)
    assert {f"{name} {','.join(map(str, index))}" for name, index in cells(one)} <= set(found)
    for key in [*found][:: max(1, len(found) // 40)]:
        name, _, index = key.rpartition(" ")
        question = {"model": run.name, "input": INPUTS[kind], "name": name, "index": [*map(int, index.split(","))]}
        assert asked.post("/api/why", json=question).json() == found[key], key


def test_reasons_of_the_followed_tokens_and_of_what_a_click_leads_to() -> None:
    one = shown("translation", "post", target="we laugh often")
    name, index = "decoder.output", [1, 12]
    found = json.loads(reasons(one, [{"name": name, "index": [99, 0]}, {"name": name, "index": index}], (2, 1)).content)
    for further in found[f"{name} 1,12"]["further"]:
        assert f"{further['name']} {','.join(map(str, further['index']))}" in found
    for column in range(FIRST):
        assert f"encoder.blocks.0.output 2,{column}" in found
        assert f"decoder.blocks.0.output 1,{column}" in found
        assert f"decoder.blocks.0.cross_attention.k 1,2,{column}" in found  # rows of the source
    assert f"encoder.blocks.0.output 0,{FIRST}" not in found


def test_there_are_never_too_many_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST_REASONS", 50)
    assert len(json.loads(reasons(shown("translation"), [], (0, 0)).content)) == 50


def test_heads_of_a_large_model_are_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = load(tiny_run("translation"))
    assert [path for path, _ in usual(loaded, [])].count("/api/sweep") == 3
    monkeypatch.setattr(kept, "AT_ONCE", 1)
    assert "/api/sweep" not in [path for path, _ in usual(loaded, [])]


@pytest.mark.parametrize("name", ["bert", "bart", "marian"])
def test_the_norm_at_the_entrance_of_an_imported_model(name: str) -> None:
    one = run_pass(load(foreign(name)), {"input": {"text": "a b c"}})
    found = json.loads(reasons(one, [], (1, 0)).content)
    entrances = [key for key in found if ".embedding_norm." in key]
    assert bool(entrances) == (name != "marian")
    for key in entrances:
        assert found[key]["exact"] and found[key]["result"] == pytest.approx(found[key]["value"], abs=1e-4), key
