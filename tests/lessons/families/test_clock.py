from __future__ import annotations

from time import sleep

from glassformer.lessons.families.clock import in_turn


def test_what_takes_longer_is_said_to_take_longer() -> None:
    found = in_turn({"short": lambda: None, "long": lambda: sleep(0.01)}, rounds=3)
    assert len(found["short"]) == len(found["long"]) == 3
    assert min(found["short"]) < min(found["long"])
    assert min(found["long"]) >= 10
