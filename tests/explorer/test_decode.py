from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import torch

import glassformer as gf
from explorer_client import INPUTS, client, tiny_run
from glassformer.decoding import Beams, Sampling, beam_search, beam_trees, sample
from glassformer.errors import InputError
from glassformer.explorer import decode as decode_module
from glassformer.explorer.decode import SearchRequest
from glassformer.explorer.shelf import Busy
from glassformer.explorer.time_limit import Overtime
from glassformer.loading import Loaded
from glassformer.words import say

WRITERS = ["translation", "language_model"]


def asked(task: str, **more: Any) -> Any:
    run = tiny_run(task)
    return client(run).post("/api/decode?lang=en", json={"model": run.name, "input": INPUTS[task], **more})


def records(task: str, **more: Any) -> list[dict[str, Any]]:
    answer = asked(task, **more)
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


def question(task: str, **more: Any) -> SearchRequest:
    loaded: Loaded = gf.load(tiny_run(task))
    return SearchRequest.of(loaded, {"input": INPUTS[task], **more})


@pytest.mark.parametrize("task", WRITERS)
def test_bars_are_the_models_own_and_those_that_sampling_draws_from(task: str) -> None:
    (found,) = records(task, kind="next", temperature=0.7, top_k=4, top_p=0.9)
    one = question(task)
    with torch.inference_mode():
        decodable, checked, start, _ = one.begun()
        logits = decodable.step(start.tokens, start.state).float()
    own = logits.softmax(1)[0]
    drawn = Sampling(temperature=0.7, top_k=4, top_p=0.9).filtered(checked.forbid(logits, 0)).softmax(1)[0]
    for bar in found["bars"]:
        assert bar["p"] == pytest.approx(float(own[bar["id"]]), rel=1e-5)
        assert bar["drawn"] == pytest.approx(float(drawn[bar["id"]]), rel=1e-5)
    assert found["kept"] == int((drawn > 0).sum()) <= 4


@pytest.mark.parametrize("task", WRITERS)
def test_the_bars_after_a_prefix_are_those_of_the_whole_pass(task: str) -> None:
    first = next(bar["id"] for bar in records(task, kind="next")[0]["bars"][1:] if not bar["ends"])
    (found,) = records(task, kind="next", prefix=[first])
    one = question(task)
    loaded = one.loaded
    with torch.no_grad():
        if task == "translation":
            begun = torch.tensor([[one.limits.bos, first]])
            logits = loaded.model(one.source, begun)[0, -1]
        else:
            logits = loaded.model(torch.cat([one.source, torch.tensor([[first]])], 1))[0, -1]
    best = logits.softmax(0)
    assert found["bars"][0]["p"] == pytest.approx(float(best.max()), rel=1e-4)


@pytest.mark.parametrize("task", WRITERS)
def test_samples_are_those_of_gf(task: str) -> None:
    *found, end = records(task, kind="sample", n=3, seed=5, temperature=1.5, max_len=12)
    one = question(task, max_len=12)
    for i, drawn in enumerate(found):
        sampling = Sampling(temperature=1.5)
        ((theirs,),) = sample(one.loaded.model, one.source, limits=one.limits, sampling=sampling, seed=5 + i)
        assert drawn["ids"] == theirs.tokens
        assert drawn["log_probability"] == pytest.approx(theirs.log_probability, rel=1e-5)
    assert end == {"kind": "end"} and len(found) == 3


@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("task", WRITERS)
def test_the_tree_is_that_of_beam_search(task: str, alpha: float) -> None:
    *steps, end = records(task, kind="beam", width=3, alpha=alpha, max_len=12)
    one, beams = question(task, max_len=12), Beams(width=3, alpha=alpha)
    (best,) = beam_search(one.loaded.model, one.source, limits=one.limits, beams=beams, n_best=3)
    _, (tree,) = beam_trees(one.loaded.model, one.source, limits=one.limits, beams=beams, n_best=3)
    assert [(each["ids"], each["finished"]) for each in end["best"]] == [(each.tokens, each.finished) for each in best]
    assert [each["score"] for each in end["best"]] == pytest.approx([each.score for each in best], rel=1e-5)
    nodes = [node for step in steps for node in step["nodes"]]
    assert [(node["token"], node["parent"], node["fate"]) for node in nodes] == [
        (node.token, node.parent, node.fate) for node in tree.nodes if node.cumulative > float("-inf")
    ]


@pytest.mark.parametrize("task", WRITERS)
def test_a_pruned_branch_lives_on_with_the_score_it_had(task: str) -> None:
    first, *_ = records(task, kind="beam", width=2, max_len=8)
    pruned = next(node for node in first["nodes"] if node["fate"] == "pruned")
    step, *_, end = records(task, kind="beam", width=2, max_len=8, prefix=[pruned["token"]])
    assert step["step"] == 2
    for node in step["nodes"]:
        total = pruned["cumulative"] + node["log_probability"]
        assert node["cumulative"] == pytest.approx(total, rel=1e-4)
    assert all(one["ids"][0] == pruned["token"] for one in end["best"])


@pytest.mark.parametrize(
    ("task", "more", "says"),
    [
        ("translation", {"kind": "next", "prefix": [2]}, "ends a text"),
        ("translation", {"kind": "dance"}, "dance"),
        ("translation", {"kind": "next", "temperature": 0}, "temperature"),
        ("translation", {"kind": "beam", "width": 1000}, "width"),
        ("translation", {"kind": "beam", "top_k": -1}, "top_k"),  # what another kind reads
        ("translation", {"kind": "next", "width": 0}, "width"),
        ("translation", {"kind": "sample", "prefix": [5]}, "prefix"),
        ("translation", {"kind": "next", "prefix": [10**6]}, "prefix"),
        ("translation", {"kind": "next", "prefix": [5] * 64}, "positions"),
        ("classification", {"kind": "next"}, "writes no text"),
    ],
)
def test_what_cannot_be_asked(task: str, more: dict[str, Any], says: str) -> None:
    answer = asked(task, **more)
    assert answer.status_code == 422 and says in answer.json()["error"]


@pytest.mark.parametrize(
    ("error", "kind"), [(Busy(), "busy"), (Overtime(), "overtime"), (InputError("empty_text"), "input")]
)
def test_what_goes_wrong_on_the_way_is_the_last_line(
    error: Exception, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def going(*_: Any) -> Iterator[dict[str, Any]]:
        yield {"kind": "sample"}
        raise error

    monkeypatch.setattr(decode_module, "decode", going)
    run = tiny_run("translation")
    body = {"model": run.name, "input": INPUTS["translation"], "kind": "sample"}
    answer = client(run).post("/api/decode?lang=en", json=body)
    first, last = map(json.loads, answer.text.splitlines())
    assert (answer.status_code, first) == (200, {"kind": "sample"})
    line = say("errors.empty_text" if kind == "input" else f"explorer_faults.{kind}", "en")
    assert last == {"error": line, "kind": kind}
