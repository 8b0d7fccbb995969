from __future__ import annotations

from typing import Any

import pytest

from glassformer.lessons.evaluation.cls_or_sep import POOLS, verdicts
from glassformer.lessons.statistics import interval
from lesson_models import tiny_result


def data(*differences: float) -> dict[str, Any]:
    effect = interval(list(differences))
    accuracy = {how: {"mean": 0.9} for how in POOLS}
    return {"accuracy": accuracy, "cls_minus": dict.fromkeys(POOLS[1:], effect), "seeds": len(differences)}


def test_the_rule() -> None:
    assert verdicts(data(0.02, 0.03, 0.02, 0.03, 0.02))["cls-not-sep"].verdict == "confirmed"
    assert verdicts(data(0.02, -0.03, 0.02, -0.02, 0.01))["cls-not-sep"].verdict == "undecided"
    assert verdicts(data(-0.02, -0.03, -0.02, -0.03, -0.02))["cls-not-sep"].verdict == "refuted"


@pytest.mark.slow
def test_differences_are_taken_seed_by_seed() -> None:
    found = tiny_result("cls_or_sep")
    assert all(0.0 <= one["low"] <= one["high"] <= 1.0 for one in found["accuracy"].values())
    for how in POOLS[1:]:
        pairs = zip(found["accuracy"]["cls"]["values"], found["accuracy"][how]["values"], strict=True)
        assert found["cls_minus"][how]["values"] == pytest.approx([a - b for a, b in pairs])
    assert found["loss"]["cls"]["values"] != found["loss"]["sep"]["values"]
    assert found["loss"]["cls"]["values"][0] != found["loss"]["cls"]["values"][1]
