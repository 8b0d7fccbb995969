from __future__ import annotations

import numpy as np

from glassformer.data.chance import of_batch, of_example
from glassformer.data.sampler import EpochPosition


def test_a_batch_draws_the_same_wherever_it_is_made_and_another_elsewhere() -> None:
    def drawn(seed: int, *place: int) -> float:
        return float(of_batch(seed, EpochPosition(*place)).random())

    assert drawn(1, 2, 3) == drawn(1, 2, 3)
    others = [drawn(1, 2, 3), drawn(0, 2, 3), drawn(1, 1, 3), drawn(1, 2, 4), drawn(1, 3, 2), drawn(1, 2, 0)]
    assert len(set(others)) == len(others)


def test_it_is_not_what_the_order_is_drawn_from() -> None:
    assert of_batch(1, EpochPosition(2, 0)).random() != np.random.default_rng([1, 2]).random()


def test_an_example_draws_the_same_whatever_stands_beside_it() -> None:
    first, second = np.array([1, 2, 3]), np.array([1, 2, 4])
    assert of_example((first,)).random() == of_example((first.copy(),)).random()
    assert of_example((first,)).random() != of_example((second,)).random()
    assert of_example((first, second)).random() != of_example((second, first)).random()
