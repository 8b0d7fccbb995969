from __future__ import annotations

from typing import Any

import pytest

from glassformer.config.model import ModelConfig
from glassformer.lessons.residual import residual_depths
from glassformer.lessons.residual.residual_depths import depths
from glassformer.lessons.residual.without_residual import build_stack
from glassformer.lessons.setup import LessonSetup


@pytest.mark.slow
def test_what_is_compared_is_adding_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    setup = LessonSetup(seeds=(0, 1), effort=0.01)
    before = depths(setup)

    def always(config: ModelConfig, seed: int, *, residual: bool, norm: bool) -> Any:
        return build_stack(config, seed, residual=True, norm=norm)

    monkeypatch.setattr(residual_depths, "build_stack", always)
    after = depths(setup)
    assert after["learning"]["gain"]["values"] == [0.0, 0.0]
    for order in ("post", "pre", "no_norm"):
        assert after["paper"][order]["times"]["mean"] == pytest.approx(1.0)
        assert before["paper"][order]["times"]["mean"] != pytest.approx(1.0)
        assert before["paper"][order]["alike"]["with"] < before["paper"][order]["alike"]["without"] <= 1.0
