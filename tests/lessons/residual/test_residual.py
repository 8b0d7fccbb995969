from __future__ import annotations

from math import log
from typing import Any

import pytest

from glassformer.config.model import ModelConfig
from glassformer.lessons.residual import residual
from glassformer.lessons.residual.residual import depths, identity, verdicts
from glassformer.lessons.residual.without_residual import build_stack
from glassformer.lessons.setup import LessonSetup
from lesson_models import tiny_result


def hand_made(first: float, last: float) -> dict[str, Any]:
    def row(depth: int, times: float) -> dict[str, Any]:
        raised = {"mean": log(times), "low": log(times) - 0.1, "high": log(times) + 0.1}
        return {"depth": depth, "raised": raised, "times": {"mean": times}}

    rows = [row(1, 1.0), row(2, first), row(24, last)]
    exact = {"pre": 0.0, "parallel": 0.0, "post": 1.0}
    return {"identity": exact, "by_depth": {"pre": rows}, "paper": {}, "deepest": {}, "reported": 600.0}


def test_the_rule_of_the_gradient() -> None:
    assert verdicts(hand_made(1e3, 1e6))["residual-gradient"].verdict == "confirmed"
    assert verdicts(hand_made(2.0, 1e6))["residual-gradient"].verdict == "depends"
    assert verdicts(hand_made(2.0, 500.0))["residual-gradient"].verdict == "refuted"
    assert verdicts(hand_made(2.0, 620.0))["residual-gradient"].verdict == "undecided"


def test_the_rule_of_identity() -> None:
    data = hand_made(2.0, 3.0)
    assert verdicts(data)["residual-identity"].verdict == "depends"
    data["identity"]["post"] = 0.0
    assert verdicts(data)["residual-identity"].verdict == "confirmed"
    data["identity"] = {"pre": 1e-9, "parallel": 1e-9, "post": 1.0}
    assert verdicts(data)["residual-identity"].verdict == "refuted"


def test_a_block_of_zeros_passes_on_what_it_is_given() -> None:
    found = identity()
    assert found["pre"] == found["parallel"] == 0.0
    assert found["post"] > 1.0 and found["post_normalised"] < 1e-4 and found["post_twice"] < 1e-4


@pytest.mark.slow
def test_what_is_compared_is_adding_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    setup = LessonSetup(seeds=(0, 1), effort=0.01)
    before = tiny_result("residual")

    def always(config: ModelConfig, seed: int, *, residual: bool, norm: bool) -> Any:
        return build_stack(config, seed, residual=True, norm=norm)

    monkeypatch.setattr(residual, "build_stack", always)
    after = depths(setup)
    assert after["learning"]["gain"]["values"] == [0.0, 0.0]
    for order in ("post", "pre", "no_norm"):
        assert after["paper"][order]["times"]["mean"] == pytest.approx(1.0)
        assert before["paper"][order]["times"]["mean"] != pytest.approx(1.0)
        assert before["paper"][order]["alike"]["with"] < before["paper"][order]["alike"]["without"] <= 1.0
