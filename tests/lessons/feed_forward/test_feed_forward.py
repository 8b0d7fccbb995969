from __future__ import annotations

from typing import Any

from glassformer.lessons.feed_forward.feed_forward import verdicts


def gain(mean: float) -> dict[str, float]:
    return {"mean": mean, "low": mean - 0.01, "high": mean + 0.01}


def hand_made(**changes: Any) -> dict[str, Any]:
    widths = {
        "equal": [{}] * 4,
        "gain_equal": gain(changes.get("equal", 0.1)),
        "gain_free": gain(changes.get("free", 0.1)),
        "further_equal": gain(0.0),
        "budget": 1,
    }
    collapse = {
        "apart": changes.get("apart", 1e-15),
        "rank": changes.get("rank", 8),
        "d_model": 8,
        "d_ff": 32,
        "bent": {"mean": 0.99},
        "straight": {"mean": 0.0, "values": [changes.get("straight", 0.0)] * 3},
        "best_line": {"mean": 0.0, "values": [0.0] * 3},
        "gain": gain(changes.get("gain", 0.99)),
    }
    boxes = {"mlp": {"others": changes.get("others", 0.0), "own": changes.get("own", 1.0)}}
    return {
        "independence": {"boxes": boxes, "kinds": 1, "attention": {"others": 1.0}},
        "collapse": collapse,
        "widths": widths,
    }


def verdict(claim: str, **changes: Any) -> str:
    return verdicts(hand_made(**changes))[claim].verdict


def test_independence_is_exact() -> None:
    assert verdict("ffn-per-token") == "confirmed"
    assert verdict("ffn-per-token", others=1e-12) == verdict("ffn-per-token", own=0.0) == "refuted"


def test_two_layers_are_one_only_if_all_of_it_holds() -> None:
    assert verdict("ffn-nonlinear") == "confirmed"
    for wrong in ({"apart": 1e-6}, {"rank": 9}, {"straight": 0.5}, {"gain": -0.5}):
        assert verdict("ffn-nonlinear", **wrong) == "refuted"
    assert verdict("ffn-nonlinear", gain=0.005) == "undecided"


def test_four_times_must_win_at_equal_parameters() -> None:
    assert verdict("ffn-four-times") == "confirmed"
    assert verdict("ffn-four-times", equal=-0.1) == "depends"
    assert verdict("ffn-four-times", equal=-0.1, free=-0.1) == "refuted"
    assert verdict("ffn-four-times", equal=0.005) == "undecided"
