from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from glassformer.lessons.attention import scaled_scores
from glassformer.lessons.attention.scaled_scores import run, verdicts
from glassformer.lessons.setup import LessonSetup


def rows(plain: float, scaled: float, spread: float = 0.01) -> dict[str, Any]:
    def kind(variance: float) -> dict[str, Any]:
        ends = {"low": variance * (1 - spread), "high": variance * (1 + spread)}
        return {"variance": {"mean": variance, **ends}, "gradient": {"mean": 1.0}}

    return {"rows": [{"d_k": 64, "plain": kind(plain), "scaled": kind(scaled)}]}


def test_the_rule() -> None:
    assert verdicts(rows(64.0, 1.0))["scale-variance"].verdict == "confirmed"
    assert verdicts(rows(64.0, 2.0))["scale-variance"].verdict == "refuted"  # one half of the sentence is false
    assert verdicts(rows(1.0, 2.0))["scale-variance"].verdict == "refuted"
    assert verdicts(rows(64.0, 1.0, spread=0.2))["scale-variance"].verdict == "undecided"
    two = {"rows": [*rows(64.0, 1.0)["rows"], {**rows(64.0, 1.0)["rows"][0], "d_k": 128}]}
    assert verdicts(two)["scale-variance"].verdict == "depends"


@pytest.mark.slow
def test_what_is_measured_changes_with_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    before = run(LessonSetup(seeds=(0,)))

    def flat(q: Tensor, k: Tensor, *_: Any, **__: Any) -> Tensor:
        return torch.full((*q.shape[:3], k.shape[2]), 1 / k.shape[2], dtype=q.dtype)

    monkeypatch.setattr(scaled_scores, "attention_weights", flat)
    after = run(LessonSetup(seeds=(0,)))
    assert after["last"]["plain"]["entropy"]["mean"] == pytest.approx(6.0)
    assert before["last"]["plain"]["entropy"]["mean"] < 1.0


@pytest.mark.slow
def test_the_variance_is_that_of_a_sum_of_independent_products() -> None:
    data = run(LessonSetup())
    assert data["last"]["plain"]["variance"]["low"] < 540 and data["last"]["plain"]["variance"]["high"] > 490
    assert verdicts(data)["scale-variance"].verdict == "confirmed"


@pytest.mark.slow
def test_the_gradient_with_respect_to_the_product_has_the_factor_in_it() -> None:
    """At the paper's d_k softmax answers more strongly without the division, and to q·k always."""
    data = run(LessonSetup(seeds=(0, 1)))
    paper, last = data["paper"], data["last"]
    assert paper["d_k"] == 64 and paper["plain"]["gradient"]["mean"] > paper["scaled"]["gradient"]["mean"]
    assert last["plain"]["gradient"]["mean"] < last["scaled"]["gradient"]["mean"]
    for row in data["rows"]:
        assert row["plain"]["gradient_product"] == row["plain"]["gradient"]
        expected = row["scaled"]["gradient"]["mean"] / row["d_k"] ** 0.5
        assert row["scaled"]["gradient_product"]["mean"] == pytest.approx(expected)
    assert [len(row["plain"]) for row in data["weights"]] == [64, 64, 64]
    assert all(sum(row["scaled"]) == pytest.approx(1.0) for row in data["weights"])
