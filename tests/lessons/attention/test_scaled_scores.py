from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from glassformer.lessons.attention import scaled_scores
from glassformer.lessons.attention.scaled_scores import run, verdicts
from glassformer.lessons.desk import Desk


def rows(plain: float, scaled: float) -> dict[str, Any]:
    def kind(variance: float) -> dict[str, Any]:
        return {"variance": {"mean": variance}, "gradient": {"mean": 1.0}}

    return {"rows": [{"d_k": 64, "plain": kind(plain), "scaled": kind(scaled)}]}


def test_the_rule() -> None:
    assert verdicts(rows(64.0, 1.0))["scale-variance"].verdict == "confirmed"
    assert verdicts(rows(64.0, 2.0))["scale-variance"].verdict == "depends"
    assert verdicts(rows(1.0, 2.0))["scale-variance"].verdict == "refuted"


def test_what_is_measured_changes_with_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    before = run(Desk(seeds=(0,)))

    def flat(q: Tensor, k: Tensor, *_: Any, **__: Any) -> Tensor:
        return torch.full((*q.shape[:3], k.shape[2]), 1 / k.shape[2], dtype=q.dtype)

    monkeypatch.setattr(scaled_scores, "attention_weights", flat)
    after = run(Desk(seeds=(0,)))
    assert after["last"]["plain"]["entropy"]["mean"] == pytest.approx(6.0)
    assert before["last"]["plain"]["entropy"]["mean"] < 1.0


def test_the_variance_is_that_of_a_sum_of_independent_products() -> None:
    data = run(Desk())
    assert data["last"]["plain"]["variance"]["low"] < 540 and data["last"]["plain"]["variance"]["high"] > 490
