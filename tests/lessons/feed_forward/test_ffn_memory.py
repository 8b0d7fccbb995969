from __future__ import annotations

from typing import Any

from glassformer.lessons.feed_forward.ffn_memory import verdicts


def hand_made(stored: float, more: float) -> dict[str, Any]:
    def surplus(mean: float) -> dict[str, float]:
        return {"mean": mean, "low": mean - 0.1, "high": mean + 0.1}

    specific = {"feed_forward": surplus(stored), "attention": surplus(stored - more)}
    return {"facts": {}, "copy": {}, "specific": specific, "more_specific": surplus(more)}


def test_the_rule() -> None:
    assert verdicts(hand_made(0.8, 0.8))["ffn-memory"].verdict == "confirmed"
    assert verdicts(hand_made(-0.5, 0.8))["ffn-memory"].verdict == "refuted"
    assert verdicts(hand_made(0.8, -0.5))["ffn-memory"].verdict == "refuted"
    assert verdicts(hand_made(0.8, 0.05))["ffn-memory"].verdict == "undecided"
