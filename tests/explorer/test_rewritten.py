from __future__ import annotations

from typing import Any

import torch

import glassformer as gf
from explorer_client import INPUTS, client, tiny_run
from glassformer.explorer.inputs import read

GIVEN = {"text": "우리 어머니께서는 매일 시장에서 꽃을 사신다"}
ALL_OFF = {"name": "decoder.blocks.*.cross_attention.heads", "kind": "zero"}


def written(model: str, edits: list[dict[str, Any]], given: Any = GIVEN, packaged: bool = True) -> dict[str, Any]:
    asked = client(packaged=packaged)
    answer = asked.post("/api/rewritten", json={"model": model, "input": given, "edits": edits})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_without_edits_it_is_the_greedy_translation() -> None:
    loaded = gf.load("ko-en")
    for text in (GIVEN["text"], "나는 학교에 간다"):
        assert written("ko-en", [], {"text": text})["text"] == read(loaded, {"text": text}).shown["target"]


def test_with_edits_it_is_what_gf_would_choose_word_by_word() -> None:
    found = written("ko-en", [ALL_OFF])
    loaded = gf.load("ko-en")
    inputs = read(loaded, GIVEN | {"target": found["text"]})
    with torch.no_grad(), gf.edit(loaded.model, {ALL_OFF["name"]: gf.zero()}):
        chosen = loaded.model(*inputs.inputs)[0].argmax(-1)  # t
    assert inputs.inputs[1][0, 1:].tolist() == chosen[:-1].tolist()
    assert found["text"] != read(loaded, GIVEN).shown["target"]
    assert [piece["id"] for piece in found["pieces"]] == chosen[:-1].tolist()


def test_an_edit_of_a_later_word_waits_for_it() -> None:
    plain = written("ko-en", [])
    last = len(plain["pieces"]) - 1
    at = "decoder.blocks.2.cross_attention"
    off = {"name": f"{at}.heads", "kind": "zero", "row": last}
    unseen = {"name": at, "kind": "forbid", "row": last, "column": 0}
    unread = {"name": "decoder.blocks.0.self_attention", "kind": "forbid", "column": last}
    found = written("ko-en", [off, unseen, unread])
    assert found["pieces"][:last] == plain["pieces"][:last]


def test_other_tasks_write_no_translation() -> None:
    run = tiny_run("classification")
    asked = {"model": run.name, "input": INPUTS["classification"]}
    answered = client(run).post("/api/rewritten", json=asked, headers={"accept-language": "en"})
    assert answered.status_code == 422 and "only a translator writes" in answered.json()["error"]
