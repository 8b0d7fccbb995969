from __future__ import annotations

import pytest
from torch import nn

from glassformer.config.model import ModelConfig
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.training import initialization
from glassformer.lessons.training.initialization import run
from glassformer.models.build import build


@pytest.mark.slow
def test_the_widths_are_those_of_the_formulas() -> None:
    rules = run(LessonSetup(seeds=(0, 1)))["rules"]
    d_model, d_ff = 512, 2048
    assert rules["xavier"]["w_1"]["std"]["mean"] == pytest.approx((2 / (d_model + d_ff)) ** 0.5, rel=0.01)
    assert rules["he"]["w_1"]["std"]["mean"] == pytest.approx((2 / d_model) ** 0.5, rel=0.01)
    assert rules["he"]["w_2"]["std"]["mean"] == pytest.approx((2 / d_ff) ** 0.5, rel=0.01)
    assert rules["xavier"]["w_1"]["kurtosis"]["mean"] == pytest.approx(-1.2, abs=0.02)  # uniform
    assert rules["he"]["w_1"]["kurtosis"]["mean"] == pytest.approx(0.0, abs=0.03)  # normal


def test_the_histogram_is_of_the_weights() -> None:
    data = run(LessonSetup(seeds=(0,)))
    width = data["centres"][1] - data["centres"][0]
    for rule in ("xavier", "normal"):
        assert sum(data["rules"][rule]["w_1"]["density"]) * width == pytest.approx(1.0, rel=1e-3)
    bound = data["rules"]["xavier"]["w_1"]["largest"]["mean"]
    outside = [
        d for c, d in zip(data["centres"], data["rules"]["xavier"]["w_1"]["density"], strict=True) if c > bound + width
    ]
    assert outside and not any(outside)


@pytest.mark.slow
def test_what_is_measured_changes_with_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    before = run(LessonSetup(seeds=(0,)))

    def louder(config: ModelConfig, *, seed: int) -> nn.Module:
        model = build(config, seed=seed)
        model.get_parameter("encoder.blocks.0.feed_forward.w_2.weight").data.mul_(3.0)
        return model

    monkeypatch.setattr(initialization, "build", louder)
    after = run(LessonSetup(seeds=(0,)))
    for rule in ("xavier", "he", "normal"):
        assert after["rules"][rule]["through"]["mean"] == pytest.approx(3 * before["rules"][rule]["through"]["mean"])
