from __future__ import annotations

from typing import Any

import pytest

from glassformer.lessons.stacks.transformer_attention import verdicts
from glassformer.lessons.stacks.transformer_attention_experiment import BASELINES, READINGS
from lesson_models import tiny_result


def data(best: float, mean: float, against: float = -0.3) -> dict[str, Any]:
    def around(value: float) -> dict[str, Any]:
        return {"mean": value, "low": value - 0.1, "high": value + 0.1, "n": 5}

    rates = {"best": best, "mean": mean, **dict.fromkeys(BASELINES, 0.8)}
    return {
        "rates": {name: around(value) for name, value in rates.items()},
        "against": {reading: {name: around(against) for name in BASELINES} for reading in READINGS},
        "least": 0.1,
        "trained": {"best": 0.2},
    }


def test_the_rule() -> None:
    assert verdicts(data(0.2, 0.3))["cross-alignment"].verdict == "confirmed"
    assert verdicts(data(0.2, 0.7))["cross-alignment"].verdict == "depends"
    assert verdicts(data(0.7, 0.7))["cross-alignment"].verdict == "refuted"
    assert verdicts(data(0.2, 0.3, against=0.3))["cross-alignment"].verdict == "refuted"
    assert verdicts(data(0.2, 0.3, against=-0.05))["cross-alignment"].verdict == "undecided"
    assert verdicts(data(0.2, 0.45))["cross-alignment"].verdict == "undecided"


@pytest.mark.slow
def test_another_translator_gives_other_links() -> None:
    one, other = (tiny_result("transformer_attention", seed) for seed in (0, 1))
    assert one["page"]["cross"] != other["page"]["cross"]
    assert one["page"]["links"] == other["page"]["links"]
    assert one["rates"]["diagonal"] == other["rates"]["diagonal"]
