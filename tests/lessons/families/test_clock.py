from __future__ import annotations

from time import sleep

from glassformer.lessons.families.clock import medians


def test_what_takes_longer_is_said_to_take_longer() -> None:
    found = medians({"short": lambda: None, "long": lambda: sleep(0.01)}, rounds=3)
    assert found["short"] < found["long"]
    assert found["long"] >= 10
