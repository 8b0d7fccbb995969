from __future__ import annotations

import numpy as np
import pytest
import torch

from glassformer.data.stream import Stream, windows
from glassformer.errors import InputError

ROW = np.arange(23, dtype=np.int32)


def test_a_stretch_holds_every_window_that_begins_in_it() -> None:
    stream = Stream.of(ROW, 5)
    assert len(stream) == 4 and stream.lengths.tolist() == [[5]] * 4
    assert [stream[i][0].tolist() for i in (0, 3)] == [list(range(10)), list(range(15, 23))]
    assert stream[1][0].base is ROW or np.shares_memory(stream[1][0], ROW)


def test_windows_from_the_first_token_read_the_row_once() -> None:
    stream = Stream.of(ROW, 5)
    batch = windows([stream[i] for i in range(4)], 5, None)
    assert batch.tokens.flatten().tolist() == list(range(20))
    assert torch.equal(batch.targets, batch.tokens + 1) and (batch.count, batch.documents) == (20, None)


def test_random_windows_begin_anywhere_in_their_stretch() -> None:
    stream = Stream.of(ROW, 5)
    seen: dict[int, set[int]] = {i: set() for i in range(4)}
    for seed in range(60):
        batch = windows([stream[i] for i in range(4)], 5, np.random.default_rng(seed))
        assert torch.equal(batch.targets, batch.tokens + 1) and batch.tokens.shape == (4, 5)
        for i, first in enumerate(batch.tokens[:, 0].tolist()):
            seen[i].add(first)
    assert [sorted(each) for each in seen.values()] == [[*range(5)], [*range(5, 10)], [*range(10, 15)], [15, 16, 17]]
    same = [windows([stream[0]], 5, np.random.default_rng(3)).rows.tolist() for _ in range(2)]
    assert same[0] == same[1]


def test_some_stretches_and_the_mark_of_the_data() -> None:
    stream = Stream.of(ROW, 5)
    fewer = stream.select([0, 2])
    assert [fewer[i][0][0] for i in range(2)] == [0, 10]
    marks = {stream.fingerprint, fewer.fingerprint, Stream.of(ROW, 4).fingerprint, Stream.of(ROW[::-1], 5).fingerprint}
    assert len(marks) == 4 and Stream.of(ROW.copy(), 5).fingerprint == stream.fingerprint


def test_a_text_shorter_than_a_window_is_refused() -> None:
    with pytest.raises(InputError, match="a text of 23 tokens has no window of 23 and the token after it"):
        Stream.of(ROW, 23)
    assert len(Stream.of(ROW, 22)) == 1


def test_a_batch_stays_where_it_is_on_the_cpu() -> None:
    batch = windows([Stream.of(ROW, 5)[0]], 5, None)
    assert batch.to(torch.device("cpu")) is batch
