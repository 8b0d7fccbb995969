from __future__ import annotations

from dataclasses import FrozenInstanceError, asdict

import pytest

from glassformer.decoding.hypothesis import Hypothesis


def test_a_hypothesis_is_a_value() -> None:
    one = Hypothesis([3, 4], -0.5, -1.0, True)
    assert asdict(one) == {"tokens": [3, 4], "score": -0.5, "log_probability": -1.0, "finished": True}
    with pytest.raises(FrozenInstanceError):
        one.score = 0.0  # type: ignore[misc]
