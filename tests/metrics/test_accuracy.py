from __future__ import annotations

from glassformer.metrics.accuracy import accuracy
from glassformer.metrics.interval import wilson


def test_three_of_four() -> None:
    assert accuracy([0, 1, 1, 2], [0, 1, 2, 2]) == wilson(3, 4)
