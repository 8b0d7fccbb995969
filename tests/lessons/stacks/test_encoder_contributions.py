from __future__ import annotations

from typing import Any

import pytest

from glassformer.lessons.stacks.encoder_contributions import verdicts
from lesson_models import tiny_result


def order(early: float, attention: float, forward: float, untrained: float = 0.0) -> dict[str, Any]:
    def around(value: float) -> dict[str, Any]:
        return {"mean": value, "low": value - 0.1, "high": value + 0.1, "n": 5}

    return {
        "early": around(early),
        "slopes": {"self_attention": around(attention), "feed_forward": around(forward), "whole": around(-early)},
        "curves": {"whole": [{"mean": 2.0}, {"mean": 1.0}]},
        "untrained": {"early": around(untrained)},
        "added": {"early": around(early - untrained)},
    }


def test_the_rule() -> None:
    holds, rises, level = order(1, -1, -1), order(1, -1, 1), order(1, -1, 0.05)
    for pre, post, verdict in (
        (holds, holds, "confirmed"),
        (holds, rises, "depends"),
        (rises, rises, "refuted"),
        (holds, level, "undecided"),
    ):
        data = {"n_layers": 2, "orders": {"pre": pre, "post": post}}
        assert verdicts(data)["early-layers"].verdict == verdict


def test_the_control_stands_beside_the_verdict_and_decides_nothing() -> None:
    there = order(1, -1, -1, untrained=2)
    found = verdicts({"n_layers": 2, "orders": {"pre": there, "post": there}})["early-layers"]
    assert found.verdict == "confirmed"
    assert found.measured["pre"]["untrained"]["mean"] == 2 and found.measured["pre"]["added"]["mean"] == -1


@pytest.mark.slow
def test_another_translator_gives_other_numbers() -> None:
    one, other = (tiny_result("encoder_contributions", seed) for seed in (0, 1))
    assert one["translator"]["whole"] != other["translator"]["whole"]
    assert one["orders"] == other["orders"]  # trained in the lesson, by its own seeds
    for order in one["orders"].values():
        assert order["curves"] != order["untrained"]["curves"]
        parts = order["early"]["values"], order["untrained"]["early"]["values"], order["added"]["early"]["values"]
        for after, before, added in zip(*parts, strict=True):
            assert added == pytest.approx(after - before, abs=1e-9)
