"""Every number of a pass, asked why: its terms come to the number that gf recorded, and lead further back."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch

import glassformer as gf
from explorer_client import INPUTS, client, tiny_run
from glassformer.explorer.inputs import read

EXPLAINED = ("q", "k", "v", "scores", "weights", "heads", "hidden", "input", "after_self_attention", "logits")


def asked(kind: str, order: str) -> list[tuple[str, list[int], float, dict[str, Any]]]:
    """One number of each tensor, drawn by lot, with what gf recorded and what the server answers."""
    run, draw = tiny_run(kind, order), random.Random(7)
    loaded = gf.load(run)
    inputs = read(loaded, INPUTS[kind])
    with torch.no_grad(), gf.record(loaded.model) as trace:
        inputs.run(loaded.model, inputs.inputs)
    server, found = client(run), []
    for name, x in trace.tensors.items():
        inner = x if name.endswith(".encoding") and x.dim() == 2 else x[0]
        index = [draw.randrange(size) for size in inner.shape]
        question = {"model": run.name, "input": INPUTS[kind], "name": name, "index": index}
        answer = server.post("/api/why", json=question)
        assert answer.status_code == 200, answer.text
        found.append((name, index, float(inner[tuple(index)]), answer.json()))
    return found


@pytest.mark.parametrize(
    ("kind", "order"), [("translation", "pre"), ("translation", "post"), ("image_classification", "pre")]
)
def test_terms_come_to_the_number_that_gf_records(kind: str, order: str) -> None:
    for name, _, value, why in asked(kind, order):
        assert why["value"] == pytest.approx(value, abs=1e-6), name
        assert why["result"] == pytest.approx(value, rel=1e-3, abs=1e-4), name
        assert why["exact"], name
        if name.partition("#")[0].rpartition(".")[2] in EXPLAINED:
            assert why["terms"] and why["filled"], name


def test_a_forbidden_score_is_what_it_would_be() -> None:
    run, name, index = tiny_run("translation"), "encoder.blocks.0.self_attention.scores", [1, 0, 1]
    forbidden = [{"kind": "forbid", "name": "encoder.blocks.0.self_attention", "head": 1, "row": 0, "column": 1}]
    question = {"model": run.name, "input": INPUTS["translation"], "name": name, "index": index}
    plain, why = (client(run).post("/api/why", json=question | more).json() for more in ({}, {"edits": forbidden}))
    assert why["value"] == pytest.approx(plain["value"]) and why["exact"]


def test_an_operand_can_be_asked_in_turn() -> None:
    run = tiny_run("translation")
    server, question = client(run), {"model": run.name, "input": INPUTS["translation"]}
    name, index, seen = "decoder.blocks.0.cross_attention.weights", [0, 0, 1], []
    for _ in range(12):
        why = server.post("/api/why", json=question | {"name": name, "index": index}).json()
        seen.append(name)
        if not why["further"]:
            break
        name, index = why["further"][0]["name"], why["further"][0]["index"]
    assert seen[1].endswith(".scores") and seen[2].endswith(".q")
    assert seen[-1].startswith("embedding.output")  # from a share back to the text


def test_a_number_that_is_not_there() -> None:
    run = tiny_run("translation")
    question = {"model": run.name, "input": INPUTS["translation"]}
    for name, index in (("encoder.output", [0, 10_000]), ("encoder.nothing", [0]), ("encoder.output", [0])):
        answer = client(run).post("/api/why", json=question | {"name": name, "index": index})
        assert answer.status_code == 422 and answer.json()["error"]
