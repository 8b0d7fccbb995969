from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

import glassformer as gf
from explorer_client import CASES, INPUTS, Traced, client, foreign, tiny_run, traced
from glassformer.explorer.inputs import read
from glassformer.loading import Loaded

MAPS = ("scores", "weights")


def by_hand(loaded: Loaded, given: dict[str, Any], edits: Any = None) -> tuple[gf.Trace, Tensor]:
    """The same pass with the Python interface alone."""
    inputs = read(loaded, given)
    with torch.no_grad(), gf.edit(loaded.model, edits or {}), gf.record(loaded.model) as trace:
        output = inputs.run(loaded.model, inputs.inputs)
    return trace, output


def same(found: Traced, trace: gf.Trace) -> None:
    assert set(trace.names()) <= set(found.tensors)
    for name, x in trace.tensors.items():
        ours = found.tensors[name]
        theirs = x if name.split("#")[0].endswith(".encoding") and x.dim() == 2 else x[0]
        if name.rpartition(".")[2] in MAPS:
            assert ours.dtype == torch.float16
            theirs = theirs.to(torch.float16)
        assert torch.equal(ours, theirs), name


@pytest.mark.many
@pytest.mark.parametrize(("kind", "order"), CASES)
def test_every_number_is_that_of_gf(kind: str, order: str) -> None:
    run = tiny_run(kind, order)
    found = traced(client(run), run.name, INPUTS[kind])
    trace, _ = by_hand(gf.load(run), INPUTS[kind])
    same(found, trace)
    steps = {step["name"]: step for step in found.about["steps"]}
    assert found.about["task"] == kind and found.about["sizes"]["norm_order"] == order
    for name, step in steps.items():
        assert step["shape"] == list(found.tensors[name].shape) and step["source"]["line"] > 0
    assert [name for name in steps if name.startswith("head.")]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bert", "bert body", "bert classifier", "gpt2", "llama", "marian", "t5", "vit"])
def test_an_imported_model_is_shown_like_our_own(name: str) -> None:
    folder = foreign(name)
    given = {"pixels": [[0.5] * 8] * 8} if name == "vit" else {"text": "the cat"}
    found = traced(client(folder), folder.name, given)
    trace, _ = by_hand(gf.load(folder), given)
    same(found, trace)
