from __future__ import annotations

from typing import Any

import pytest

from glassformer.lessons.norm.pre_or_post_norm import verdicts
from glassformer.lessons.statistics import difference, interval
from lesson_models import tiny_result

LOWER, LOW, HIGH = [0.5, 0.52, 0.51], [1.0, 1.01, 1.02], [2.0, 2.03, 2.01]


def grid(*, stable: tuple[bool, bool], shallow: bool, final: tuple[bool, bool]) -> dict[str, Any]:
    """Two depths; True: pre-norm, or the final norm, is better there."""

    def both(better: bool) -> dict[str, Any]:
        pre, post = (LOW, HIGH) if better else (HIGH, LOW)
        return {"pre": interval(pre), "post": interval(post), "less": difference(pre, post)}

    cells = [{"depth": depth, "warmup": warm, **both(stable[depth])} for depth in (0, 1) for warm in (0, 1)]
    rows = [
        {
            "depth": depth,
            "steps": 80,
            "with": interval(LOW),
            "without": interval(HIGH if needed else LOWER),
            "more": difference(HIGH if needed else LOWER, LOW),
            "first": 1.0,
            "last": 2.0,
        }
        for depth, needed in enumerate(final)
    ]
    return {
        "cells": cells,
        "worst": [{"depth": depth, **both(stable[depth])} for depth in (0, 1)],
        "shallow": [{"rate": 0.1, **both(shallow)}, {"rate": 0.2, **both(shallow)}],
        "final": rows[:1],
        "final_longer": {**rows[1], "steps": 240},
    }


@pytest.mark.parametrize(
    ("held", "verdict"), [((True, True), "confirmed"), ((False, True), "depends"), ((False, False), "refuted")]
)
def test_the_rules_by_depth(held: tuple[bool, bool], verdict: str) -> None:
    found = verdicts(grid(stable=held, shallow=True, final=held))
    assert found["pre-norm-stable"].verdict == found["final-norm"].verdict == verdict


@pytest.mark.parametrize(
    ("deep", "shallow", "verdict"), [(True, True, "confirmed"), (True, False, "depends"), (False, False, "refuted")]
)
def test_the_rule_of_pre_norm_always(deep: bool, shallow: bool, verdict: str) -> None:
    data = grid(stable=(True, deep), shallow=shallow, final=(True, True))
    assert verdicts(data)["pre-norm-always"].verdict == verdict


@pytest.mark.slow
def test_the_worse_of_two_settings_counts_and_seeds_change_the_numbers() -> None:
    data = tiny_result("pre_or_post_norm")
    for row in data["worst"]:
        cells = [cell for cell in data["cells"] if cell["depth"] == row["depth"]]
        for order in ("pre", "post"):
            both = zip(*(cell[order]["values"] for cell in cells), strict=True)
            assert row[order]["values"] == [max(pair) for pair in both]
            assert len(set(row[order]["values"])) == 2
