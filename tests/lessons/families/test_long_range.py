from __future__ import annotations

from math import log
from typing import Any

import pytest

from glassformer.lessons.families.long_range import verdicts
from glassformer.lessons.statistics import difference, interval
from lesson_models import tiny_result


def seeds(value: float, step: float) -> dict[str, Any]:
    return interval([value - step, value, value + 2 * step])


def data(half: tuple[float, float], end: tuple[float, float], spread: float = 0.001) -> dict[str, Any]:
    """Recall of the Transformer and of the LSTM, half-way and at the end."""
    looks = list(zip(half, end, strict=True))
    learning = {
        kind: [seeds(value, spread * (place + 1)) for value in looks[place]]
        for place, kind in enumerate(("transformer", "lstm"))
    }
    return {
        "recall": {kind: [each[-1]] for kind, each in learning.items()},
        "learning": {"step": [150, 300], **learning},
        "half": {"step": 150},
        "ahead": difference(*(learning[kind][-1]["values"] for kind in ("transformer", "lstm"))),
        "early": None,
        "chance": 0.125,
        "distances": [64],
        "steps": 300,
        "seeds": 3,
        **times((1.0, 2.0), (4.0, 8.0)),
    }


def times(attention: tuple[float, float], lstm: tuple[float, float], chain: tuple[int, int] = (9, 9)) -> dict[str, Any]:
    rows = [
        {"length": 16 * (i + 1), "attention": a, "lstm": b, "ratio": b / a, "faster": seeds(log(b / a), 0.01)}
        for i, (a, b) in enumerate(zip(attention, lstm, strict=True))
    ]
    chains = [{"length": 8 * (i + 1), "attention": one, "lstm": 40 * (i + 1)} for i, one in enumerate(chain)]
    return {"times": rows, "chains": chains}


def test_the_rule_of_long_range() -> None:
    ahead, behind, guessing, both = (0.9, 0.3), (0.9, 0.95), (0.11, 0.05), (0.95, 0.95)
    assert verdicts(data(ahead, ahead))["long-range"].verdict == "confirmed"
    assert verdicts(data(behind, behind))["long-range"].verdict == "refuted"
    assert verdicts(data(ahead, behind))["long-range"].verdict == "depends"
    assert verdicts(data(ahead, both))["long-range"].verdict == "undecided"
    assert verdicts(data(guessing, guessing))["long-range"].verdict == "refuted"


def test_the_rule_of_parallel() -> None:
    for found, verdict in (
        (times((1.0, 2.0), (4.0, 8.0)), "confirmed"),
        (times((1.0, 9.0), (4.0, 8.0)), "depends"),
        (times((5.0, 9.0), (4.0, 8.0)), "refuted"),
        (times((4.0, 2.0), (4.0, 8.0)), "undecided"),
        (times((1.0, 2.0), (4.0, 8.0), chain=(9, 10)), "refuted"),
    ):
        assert verdicts({**data((0.9, 0.3), (0.9, 0.3)), **found})["parallel"].verdict == verdict


@pytest.mark.slow
def test_it_measures_both() -> None:
    found = tiny_result("long_range")
    assert abs(found["parameters"]["lstm"] / found["parameters"]["transformer"] - 1) < 0.03
    for kind in ("transformer", "lstm"):
        assert all(
            0.0 <= one["low"] <= one["high"] <= 1.0 for one in (*found["recall"][kind], *found["learning"][kind])
        )
    assert found["recall"]["lstm"][0]["values"] != found["recall"]["transformer"][0]["values"]
