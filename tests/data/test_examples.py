from __future__ import annotations

import numpy as np
import pytest

from glassformer.data.arrays import Arrays
from glassformer.data.examples import Examples
from glassformer.data.sampler import Sampler
from glassformer.data.store import Store
from glassformer.data.windows import Windows, starts

KINDS: dict[str, Examples] = {
    "store": Store.of({"text": [[1, 2], [3], [4, 5, 6]], "label": [[0], [1], [0]]}),
    "arrays": Arrays({"image": np.zeros((3, 2, 2)), "label": np.arange(3)}, positions=2),
    "windows": Windows(np.arange(5.0), starts([5], 3), (2, 1), positions=2),
}


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_examples_can_be_sampled(name: str) -> None:
    examples = KINDS[name]
    assert len(examples) == 3 and examples.lengths.ndim == 2 and len(examples.lengths) == 3
    assert all(isinstance(field, np.ndarray) for field in examples[1]) and len(examples[1]) >= 2
    batches = Sampler(lengths=examples.lengths, batch_tokens=4).batches(0)
    assert sorted(np.concatenate(batches).tolist()) == [0, 1, 2]
    chosen = examples.select([0, 2])
    assert len(chosen) == 2 and chosen.fingerprint != examples.fingerprint
    assert all(np.array_equal(a, b) for a, b in zip(chosen[1], examples[2], strict=True))
