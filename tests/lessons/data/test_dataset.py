from __future__ import annotations

import numpy as np
import pytest

from glassformer.data.sampler import Sampler
from glassformer.lessons.data.dataset import _padding, _zipf, run
from glassformer.lessons.setup import LessonSetup


def test_padding_is_what_is_not_real() -> None:
    lengths = np.array([[4, 2], [2, 2]])
    found = _padding(Sampler(lengths=lengths, batch_tokens=100, pool=1))
    assert found == {"waste": pytest.approx(1 - 10 / (2 * 4 + 2 * 2)), "batches": 1}


def test_an_exact_law_is_found_again() -> None:
    tokens = np.repeat(np.arange(50), [round(1e5 / rank) for rank in range(1, 51)])
    found = _zipf(tokens.astype(np.int32))
    assert found["exponent"] == pytest.approx(1.0, abs=0.01)
    assert found["r_squared"] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.slow
def test_sorting_by_length_saves_padding() -> None:
    data = run(LessonSetup(effort=0.01))
    waste = data["padding"]
    assert waste["sorted"]["waste"] < waste["pools"]["waste"] < waste["random"]["waste"] < waste["longest"]["waste"]
    for side in ("source", "target"):
        assert sum(data["lengths"][side]["counts"]) == data["sentences"]
        assert data["zipf"][side]["entropy"] < data["zipf"][side]["largest_entropy"]
