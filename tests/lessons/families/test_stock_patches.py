from __future__ import annotations

from typing import Any

import pytest
import torch

from glassformer.lessons.families.stock_patches import _distances, _even, verdicts
from glassformer.lessons.statistics import interval
from lesson_models import tiny_result


def data(near: float, far: float, gained: float, count: int = 9) -> dict[str, Any]:
    def around(value: float) -> dict[str, Any]:
        return interval([value - 0.01, value, value + 0.01])

    patches = {"shape": [1, count, 32], "positions": 9, "context": 30, "length": 6, "stride": 3}
    trained = {"near": around(near), "far": around(far), "spread": around(far - near)}
    heads = {"trained": trained, "untrained": trained, "gained": around(gained)}
    return {"patches": patches, "heads": heads, "even": 8.9, "seeds": 3}


def test_the_rules() -> None:
    assert verdicts(data(5, 12, 4))["heads-terms"].verdict == "confirmed"
    assert verdicts(data(9, 12, 4))["heads-terms"].verdict == "refuted"
    assert verdicts(data(5, 8, 4))["heads-terms"].verdict == "refuted"
    assert verdicts(data(5, 12, -1))["heads-terms"].verdict == "refuted"
    assert verdicts(data(5, 12, 0))["heads-terms"].verdict == "undecided"
    assert verdicts(data(5, 12, 4))["patches-nine"].verdict == "confirmed"
    assert verdicts(data(5, 12, 4, count=10))["patches-nine"].verdict == "refuted"


def test_distance_is_in_days() -> None:
    assert _distances(torch.eye(9)[None, None]) == [0.0]
    assert _even() == pytest.approx(3 * 80 / 27)


@pytest.mark.slow
def test_another_model_gives_other_numbers() -> None:
    first, second = (tiny_result("stock_patches", seed) for seed in (0, 1))
    assert first["patches"] == second["patches"] and first["patches"]["first"][-1] == 24
    assert first["forecast"]["mse"]["model"] != second["forecast"]["mse"]["model"]
    assert first["forecast"]["mse"]["persistence"] == second["forecast"]["mse"]["persistence"]
    assert first["distance"] != second["distance"]
