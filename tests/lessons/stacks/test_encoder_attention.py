from __future__ import annotations

from typing import Any

import pytest
import torch

from glassformer.lessons.stacks.encoder_attention import MEASURES, distance, entropy, verdicts
from lesson_models import tiny_result


def measured(**slopes: float) -> dict[str, Any]:
    def around(value: float) -> dict[str, Any]:
        return {"mean": value, "low": value - 0.1, "high": value + 0.1, "n": 5}

    return {
        "depth": 2,
        "slopes": {name: around(slopes[name]) for name in MEASURES},
        "curves": {name: [{"mean": 1.0}, {"mean": 2.0}] for name in MEASURES},
        "untrained": {"slopes": {name: around(3.0) for name in MEASURES}},
        "added": {name: around(slopes[name] - 3.0) for name in MEASURES},
    }


def test_the_rule() -> None:
    both = measured(entropy=1, distance=1, surface=-1, structure=1)
    assert verdicts(both)["abstraction"].verdict == "confirmed"
    content = measured(entropy=1, distance=-1, surface=-1, structure=1)
    assert verdicts(content)["abstraction"].verdict == "depends"
    attention = measured(entropy=1, distance=1, surface=1, structure=1)
    assert verdicts(attention)["abstraction"].verdict == "depends"
    neither = measured(entropy=-1, distance=1, surface=-1, structure=-1)
    assert verdicts(neither)["abstraction"].verdict == "refuted"
    open_ = measured(entropy=1, distance=1, surface=0.05, structure=1)
    assert verdicts(open_)["abstraction"].verdict == "undecided"


def test_the_control_stands_beside_the_verdict() -> None:
    found = verdicts(measured(entropy=1, distance=1, surface=-1, structure=1))["abstraction"].measured
    assert found["untrained"]["surface"]["mean"] == 3 and found["added"]["surface"]["mean"] == -4


@pytest.mark.slow
def test_another_model_gives_other_maps_and_padding_is_blocked_in_both() -> None:
    one, other = (tiny_result("encoder_attention", seed) for seed in (0, 1))
    assert one["maps"] != other["maps"]
    assert one["untrained"] == other["untrained"]  # built in the lesson, by its own seeds
    for name in MEASURES:
        slopes = one["slopes"][name]["mean"], one["untrained"]["slopes"][name]["mean"]
        assert one["added"][name]["mean"] == pytest.approx(slopes[0] - slopes[1], abs=1e-9)
    assert one["curves"] != one["untrained"]["curves"]
    for data in (one, other):
        assert data["padding"] > 0 and data["to_padding"] == 0
        row = data["maps"][0][0][0]
        assert sum(value for value in row if value is not None) == pytest.approx(1, abs=1e-5)
        assert sum(value is None for value in row) == data["padding"]


def test_entropy_and_distance_of_weights_that_are_known() -> None:
    real = torch.tensor([[True, True, True, False]])
    even = torch.full((1, 1, 4, 4), 0.25)
    own = torch.eye(4)[None, None]
    assert entropy(even, real) == pytest.approx(2.0)
    assert entropy(own, real) == 0 and distance(own, real) == 0
    # rows 0, 1, 2 of |t − s| have the means 6/4, 4/4, 4/4; the fourth token is padding
    assert distance(even, real) == pytest.approx((1.5 + 1.0 + 1.0) / 3)
