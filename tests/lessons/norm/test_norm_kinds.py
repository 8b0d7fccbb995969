from __future__ import annotations

from typing import Any

import pytest
import torch

from glassformer.lessons.norm.batch_norm import BatchNorm
from glassformer.lessons.norm.norm_kinds import experiment, model_with, padded_share, train, verdicts
from glassformer.lessons.setup import LessonSetup


def rows(*more: tuple[float, float]) -> dict[str, Any]:
    """For each size the effect of BatchNorm as it is, and with padding left out."""

    def effect(mean: float) -> dict[str, float]:
        return {"mean": mean, "low": mean - 0.05, "high": mean + 0.05}

    kinds = ("layer", "rms", "batch", "batch_real")
    found = [
        {
            "size": 2 * (place + 1),
            **{kind: {"loss": {"mean": 1.0}, "gap": {"mean": 0.0}} for kind in kinds},
            "batch_more": effect(plain),
            "batch_real_more": effect(told),
        }
        for place, (plain, told) in enumerate(more)
    ]
    return {"rows": found, "steps": 1}


@pytest.mark.parametrize(
    ("more", "verdict"),
    [
        (((0.2, 0.1), (0.3, 0.2)), "confirmed"),
        (((0.2, 0.1), (0.3, -0.2)), "depends"),
        (((-0.2, 0.1), (0.3, -0.2)), "refuted"),
        (((0.2, 0.1), (0.3, 0.0)), "undecided"),
    ],
)
def test_the_rule(more: tuple[tuple[float, float], ...], verdict: str) -> None:
    assert verdicts(rows(*more))["layer-not-batch"].verdict == verdict


def test_the_sizes_at_which_it_holds_are_named() -> None:
    measured = verdicts(rows((0.2, 0.1), (0.3, -0.2)))["layer-not-batch"].measured
    assert (measured["confirms"], measured["refutes"]) == ("2", "4")


@pytest.mark.slow
def test_only_batch_norm_differs_between_the_modes_and_padding_is_left_out_where_it_is_told() -> None:
    material = experiment(LessonSetup(effort=0.01))
    found = {kind: train(material, kind, 8, 0, 3) for kind in ("layer", "rms", "batch", "batch_real")}
    assert found["layer"]["gap"] == 0.0 and found["rms"]["gap"] == 0.0
    assert found["batch"]["gap"] > 0.0 and found["batch_real"]["gap"] > 0.0
    assert len({one["loss"] for one in found.values()}) == 4
    assert padded_share(material, 8, 0) > 0.0

    model = model_with("batch_real", material.config({}, 0), pad=0).train()
    source, target = torch.tensor([[5, 6, 7], [5, 6, 0]]), torch.tensor([[1, 5, 6], [1, 5, 0]])
    model(source, target, torch.tensor([[True] * 3, [True, True, False]]))
    told = {name.partition(".")[0]: m.real for name, m in model.named_modules() if isinstance(m, BatchNorm)}
    assert {side: int(real.sum()) for side, real in told.items() if real is not None} == {"encoder": 5, "decoder": 5}
