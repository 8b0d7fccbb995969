from __future__ import annotations

import pytest
import torch

from glassformer.lessons.stacks.encoder_attention_experiment import distance, entropy


def test_entropy_and_distance_of_weights_that_are_known() -> None:
    real = torch.tensor([[True, True, True, False]])
    even = torch.full((1, 1, 4, 4), 0.25)
    own = torch.eye(4)[None, None]
    assert entropy(even, real) == pytest.approx(2.0)
    assert entropy(own, real) == 0 and distance(own, real) == 0
    # rows 0, 1, 2 of |t − s| have the means 6/4, 4/4, 4/4; the fourth token is padding
    assert distance(even, real) == pytest.approx((1.5 + 1.0 + 1.0) / 3)
