from __future__ import annotations

from typing import Any

import pytest

from glassformer.lessons.norm.norm_kinds import verdicts


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
