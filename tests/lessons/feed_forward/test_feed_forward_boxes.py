from __future__ import annotations

import pytest
import torch

from glassformer.layers.feed_forward import FeedForward
from glassformer.lessons.feed_forward.feed_forward_boxes import (
    across,
    collapse,
    curves,
    explained,
    independence,
    silence,
)
from glassformer.lessons.setup import LessonSetup
from glassformer.loading import load
from lesson_models import tiny


def test_the_jacobian_of_a_box_that_mixes_positions_is_seen() -> None:
    x = torch.randn(1, 3, 4, generator=torch.Generator().manual_seed(0))
    assert across(lambda y: 2 * y, x) == {"others": 0.0, "own": 2.0}
    assert across(lambda y: y + y.flip(1), x)["others"] == 1.0


@pytest.mark.slow
def test_without_the_bend_a_network_is_a_line() -> None:
    found = collapse(LessonSetup(seeds=(0,)))
    assert found["apart"] < 1e-12 and found["rank"] == 8
    assert found["bent"]["mean"] > 0.9 and abs(found["straight"]["mean"]) < 0.05


@pytest.mark.slow
def test_a_bend_that_does_not_bend_explains_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    make = FeedForward.__init__

    def straight(self: FeedForward, *, d_model: int, d_ff: int) -> None:
        make(self, d_model=d_model, d_ff=d_ff)
        self.activation = lambda x: x

    monkeypatch.setattr(FeedForward, "__init__", straight)
    assert collapse(LessonSetup(seeds=(0,)))["bent"]["mean"] < 0.05


def test_explained_and_curves() -> None:
    y = torch.tensor([[1.0], [2.0], [3.0]])
    assert explained(y, y) == 1.0 and explained(torch.full_like(y, 2.0), y) == 0.0
    drawn = curves()
    middle = drawn["x"].index(0.0)
    assert drawn["relu"][: middle + 1] == [0.0] * (middle + 1) and min(drawn["gelu"]) < 0


@pytest.mark.slow
def test_another_model_has_other_silent_units() -> None:
    setup = LessonSetup(effort=0.01)
    first, second = (silence(setup, load(tiny("ko-en", seed), device="cpu")) for seed in (0, 1))
    assert [row["trained"] for row in first] != [row["trained"] for row in second]
    assert [row["side"] for row in first] == ["encoder", "encoder", "decoder", "decoder"]
    found = independence(load(tiny("ko-en"), device="cpu"))
    assert all(box["others"] == 0.0 and box["own"] > 0 for box in found["boxes"].values())
    assert found["attention"]["others"] > 0
