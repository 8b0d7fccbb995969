from __future__ import annotations

from typing import Any

import pytest

from glassformer.lessons.desk import Desk
from glassformer.lessons.families.long_range import run, verdicts
from glassformer.lessons.statistics import difference, interval


def data(transformer: float, lstm: float, early: bool = False) -> dict[str, Any]:
    values = {
        kind: [value - 0.01, value, value + 0.01] for kind, value in (("transformer", transformer), ("lstm", lstm))
    }
    return {
        "recall": {kind: [interval(each)] for kind, each in values.items()},
        "ahead": difference(values["transformer"], [value + 0.001 * i for i, value in enumerate(values["lstm"])]),
        "early": {"step": 50, "mean": 0.5} if early else None,
        "chance": 0.125,
        "distances": [64],
        "steps": 300,
        "seeds": 3,
        **times((1.0, 2.0), (4.0, 8.0)),
    }


def times(attention: tuple[float, float], lstm: tuple[float, float], chain: tuple[int, int] = (9, 9)) -> dict[str, Any]:
    rows = [
        {"length": 16 * (i + 1), "attention": a, "lstm": b, "ratio": b / a}
        for i, (a, b) in enumerate(zip(attention, lstm, strict=True))
    ]
    chains = [{"length": 8 * (i + 1), "attention": one, "lstm": 40 * (i + 1)} for i, one in enumerate(chain)]
    return {"times": rows, "chains": chains}


def test_the_rule_of_long_range() -> None:
    assert verdicts(data(0.9, 0.3))["long-range"].verdict == "confirmed"
    assert verdicts(data(0.9, 0.95))["long-range"].verdict == "refuted"
    assert verdicts(data(0.9, 0.95, early=True))["long-range"].verdict == "depends"
    assert verdicts(data(0.12, 0.05))["long-range"].verdict == "refuted"


def test_the_rule_of_parallel() -> None:
    for found, verdict in (
        (times((1.0, 2.0), (4.0, 8.0)), "confirmed"),
        (times((1.0, 9.0), (4.0, 8.0)), "depends"),
        (times((5.0, 9.0), (4.0, 8.0)), "refuted"),
        (times((1.0, 2.0), (4.0, 8.0), chain=(9, 10)), "refuted"),
    ):
        assert verdicts({**data(0.9, 0.3), **found})["parallel"].verdict == verdict


@pytest.mark.slow
def test_it_measures_both() -> None:
    found = run(Desk(seeds=(0, 1), effort=0.01))
    assert abs(found["parameters"]["lstm"] / found["parameters"]["transformer"] - 1) < 0.03
    assert found["recall"]["lstm"][0]["values"] != found["recall"]["transformer"][0]["values"]
