from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from glassformer.layers.residual import StochasticDepth
from glassformer.lessons.residual.stochastic_depth import HIGHEST, schedule, verdicts


def hand_made(few: tuple[float, float], whole: tuple[float, float]) -> dict[str, Any]:
    def size(gap: float, loss: float) -> dict[str, Any]:
        both = zip(("gap_change", "validation_change"), (gap, loss), strict=True)
        return {name: {"mean": x, "low": x - 0.01, "high": x + 0.01} for name, x in both}

    return {"highest": 0.5, "images": {"few": 1, "all": 2}, "few": size(*few), "all": size(*whole)}


def test_the_rule() -> None:
    better, only_the_gap = (-0.2, -0.1), (-0.2, 0.1)
    assert verdicts(hand_made(better, better))["stochastic-depth"].verdict == "confirmed"
    assert verdicts(hand_made(better, only_the_gap))["stochastic-depth"].verdict == "depends"
    assert verdicts(hand_made(only_the_gap, only_the_gap))["stochastic-depth"].verdict == "refuted"
    assert verdicts(hand_made((-0.2, -0.005), only_the_gap))["stochastic-depth"].verdict == "undecided"


def test_what_is_drawn_is_what_is_set() -> None:
    rows = schedule()
    assert rows[0]["survival"] == rows[0]["kept"] == 1.0 and rows[-1]["survival"] == 1 - HIGHEST
    for row in rows:
        assert row["kept"] == pytest.approx(row["survival"], abs=0.02) and row["mean"] == pytest.approx(1.0, abs=0.04)


def test_another_box_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StochasticDepth, "forward", lambda self, x: torch.zeros_like(x))
    assert schedule()[-1]["kept"] == 0.0

    def never(self: StochasticDepth, x: Tensor) -> Tensor:
        return x

    monkeypatch.setattr(StochasticDepth, "forward", never)
    assert schedule()[-1]["kept"] == 1.0
