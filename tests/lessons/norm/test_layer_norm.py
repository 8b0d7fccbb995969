from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F

from glassformer.layers.norm import LayerNorm
from glassformer.lessons.norm.layer_norm import run, verdicts
from lesson_models import tiny_result, tiny_setup

BETTER, WORSE = {"mean": -0.2, "low": -0.3, "high": -0.1}, {"mean": 0.2, "low": 0.1, "high": 0.3}
OPEN = {"mean": 0.0, "low": -0.1, "high": 0.1}


def found(
    *,
    mean: float = 0.0,
    off: float = 0.0,
    low: float = 1.0,
    moved: float = 0.0,
    effects: tuple[dict[str, float], ...] = (BETTER, BETTER),
) -> dict[str, Any]:
    def row(depth: int, less: dict[str, float]) -> dict[str, Any]:
        both = {"layer": {"mean": 1.0}, "none": {"mean": 2.0}}
        return {"depth": depth, "rate": 0.01, "loss": {**both, "less": less}, "spread": {**both, "less": less}}

    token = {"mean": mean, "off": off, "deviation_low": low, "deviation_high": 1.0, "tokens": 1, "norms": 1}
    others = {"layer": moved, "batch": 1.0, "rows": 2, "times": 1}
    return {"d_model": 128, "token": token, "others": others, "settings": [row(*one) for one in enumerate(effects, 2)]}


def test_the_rule_of_norm_zero_one() -> None:
    assert verdicts(found(mean=1e-6))["norm-zero-one"].verdict == "confirmed"
    for wrong in (found(mean=1e-3), found(off=1e-3), found(low=0.9)):
        assert verdicts(wrong)["norm-zero-one"].verdict == "refuted"


def test_the_rule_of_norm_batch_free() -> None:
    assert verdicts(found())["norm-batch-free"].verdict == "confirmed"
    assert verdicts(found(moved=1e-30))["norm-batch-free"].verdict == "refuted"


def test_the_rule_of_norm_stabilises() -> None:
    expected = {(True, True): "confirmed", (True, False): "depends", (False, False): "refuted"}
    for held, verdict in expected.items():
        effects = tuple(BETTER if one else WORSE for one in held)
        assert verdicts(found(effects=effects))["norm-stabilises"].verdict == verdict
    assert verdicts(found(effects=(BETTER, OPEN)))["norm-stabilises"].verdict == "undecided"
    assert verdicts(found(effects=(BETTER, WORSE, OPEN)))["norm-stabilises"].verdict == "depends"


@pytest.mark.slow
def test_a_norm_that_subtracts_no_mean_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    setup = tiny_setup("layer_norm")
    before = verdicts(tiny_result("layer_norm"))
    assert (before["norm-zero-one"].verdict, before["norm-batch-free"].verdict) == ("confirmed", "confirmed")

    def shifted(self: LayerNorm, x: torch.Tensor) -> torch.Tensor:
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps) + 0.1 * x.mean()

    monkeypatch.setattr(LayerNorm, "forward", shifted)
    after = verdicts(run(setup))
    assert (after["norm-zero-one"].verdict, after["norm-batch-free"].verdict) == ("refuted", "refuted")
