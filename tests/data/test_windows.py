from __future__ import annotations

import numpy as np
import pytest

from glassformer.data.windows import Windows, starts

SERIES = np.arange(20.0).reshape(10, 2)


def windows() -> Windows:
    return Windows(SERIES, starts([10], 4), (3, 1), positions=3)


def test_a_window_is_cut_into_its_fields_and_nothing_is_copied() -> None:
    past, future = windows()[2]
    assert past.tolist() == SERIES[2:5].tolist() and future.tolist() == SERIES[5:6].tolist()
    assert np.shares_memory(past, SERIES)


def test_every_window_that_fits_is_there() -> None:
    assert len(windows()) == 7
    assert windows()[6][1].tolist() == SERIES[9:].tolist()  # the last one too
    assert windows().lengths.tolist() == [[3]] * 7


def test_no_window_reaches_from_one_row_into_the_next() -> None:
    assert starts([5, 3, 6], 4).tolist() == [0, 1, 8, 9, 10]
    assert starts([9], 3, stride=3).tolist() == [0, 3, 6]
    assert starts([2], 3).tolist() == []


def test_some_of_them() -> None:
    assert windows().select([0, 5]).starts.tolist() == [0, 5]
    assert windows().select(np.arange(7) > 4).starts.tolist() == [5, 6]


def test_a_fingerprint_knows_values_starts_and_sizes() -> None:
    others = [
        windows(),
        Windows(SERIES + 1, windows().starts, (3, 1), 3),
        Windows(SERIES, windows().starts[:-1], (3, 1), 3),
        Windows(SERIES, windows().starts, (2, 2), 3),
    ]
    assert len({one.fingerprint for one in others}) == 4
    assert windows().fingerprint == windows().fingerprint


def test_a_window_beyond_the_end_is_a_mistake_of_ours() -> None:
    with pytest.raises(AssertionError, match="beyond the end"):
        Windows(SERIES, np.array([8]), (3,), 3)
