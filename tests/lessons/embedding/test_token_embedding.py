from __future__ import annotations

from typing import Any

import pytest
import torch

from glassformer.lessons.embedding.token_embedding import kolmogorov, verdicts
from lesson_models import tiny_result


def _at(value: float) -> dict[str, float]:
    return {"mean": value, "low": value, "high": value}


def found(distance: float, cosine: float, spread: float, balance: list[tuple[float, float]]) -> dict[str, Any]:
    starts = ("xavier", "normal", "t5")
    return {
        "d_model": 64,
        "tokens": 100,
        "expected": {"cosine": 0.125},
        "initial": {
            "away_from_normal": _at(distance),
            "jarque_bera": _at(1.0),
            "cosine": _at(cosine),
            "cosine_spread": _at(spread),
        },
        "balance": [
            {"start": start, "d_model": 64, "plain": plain, "scaled": scaled}
            for start, (plain, scaled) in zip(starts, balance, strict=True)
        ],
    }


def test_the_rule_of_the_norms() -> None:
    balance = [(0.1, 1.0)] * 3
    assert verdicts(found(0.02, 0.001, 0.124, balance))["embedding-norms"].verdict == "confirmed"
    for wrong in ((0.06, 0.001, 0.124), (0.02, 0.05, 0.124), (0.02, 0.001, 0.2)):
        assert verdicts(found(*wrong, balance))["embedding-norms"].verdict == "refuted"


def test_the_rule_of_the_factor() -> None:
    def verdict(*balance: tuple[float, float]) -> str:
        return verdicts(found(0.02, 0.0, 0.125, list(balance)))["embedding-scale"].verdict

    helps, hurts = (0.2, 1.4), (1.4, 16.0)
    assert verdict(helps, helps, helps) == "confirmed"
    assert verdict(helps, hurts, hurts) == "depends"
    assert verdict(hurts, hurts, hurts) == "refuted"
    assert verdict((1.0, 1.0), hurts, hurts) == "refuted"  # balanced anyway: the factor did nothing


def test_the_distance_to_the_normal_distribution() -> None:
    quantiles = torch.distributions.Normal(0.0, 1.0).icdf((torch.arange(1000, dtype=torch.float64) + 0.5) / 1000)
    assert kolmogorov(quantiles) < 0.002
    assert kolmogorov(torch.tensor([0.0] * 50 + [1.0] * 50, dtype=torch.float64)) == pytest.approx(0.341, abs=0.01)


@pytest.mark.slow
def test_another_model_has_other_numbers() -> None:
    first, second = (tiny_result("token_embedding", seed) for seed in (0, 1))
    assert first["initial"] == second["initial"]  # the same configuration, the same seeds
    assert first["trained"] != second["trained"]
    assert abs(first["trained_ratio"]["scaled"] - 2**0.5) < 0.05
