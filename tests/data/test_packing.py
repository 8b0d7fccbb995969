from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from glassformer.data.packing import PADDING, fit, pack, packed, pieces
from glassformer.losses import IGNORE
from glassformer.text import Frame

BEGIN, END = 1, 2
TEXTS = [[10, 11, 12], [20], [30, 31], [*range(40, 51)]]


def test_a_text_is_read_from_its_begin_to_its_end() -> None:
    (piece,) = pieces([[10, 11]], Frame(BEGIN, END), 8)
    assert piece.tolist() == [1, 10, 11, 2]


def test_a_long_text_is_cut_and_every_token_is_foreseen_once() -> None:
    found = list(pieces([[*range(40, 51)]], Frame(BEGIN, END), 5))
    assert [len(piece) for piece in found] == [6, 6, 3]
    foreseen = [token for piece in found for token in piece[1:].tolist()]
    assert foreseen == [*range(40, 51), END]
    assert found[1][0] == found[0][-1]


@given(st.lists(st.integers(1, 12), max_size=60))
def test_rows_hold_everything_once_and_no_more_than_they_can(lengths: list[int]) -> None:
    rows = fit(np.array(lengths, dtype=np.int64), 12)
    assert sorted(i for row in rows for i in row) == list(range(len(lengths)))
    assert all(sum(lengths[i] for i in row) <= 12 for row in rows)
    half_full = [row for row in rows if 2 * sum(lengths[i] for i in row) <= 12]
    assert len(half_full) <= 1


def test_rows_are_nearly_full() -> None:
    lengths = np.random.default_rng(0).integers(3, 40, 2000)
    rows = fit(lengths, 64)
    assert lengths.sum() / (64 * len(rows)) > 0.98


def test_nothing_is_foreseen_across_a_border() -> None:
    store = pack(TEXTS, Frame(BEGIN, END), 8)
    follows = {(a, b) for text in TEXTS for a, b in zip([BEGIN, *text], [*text, END], strict=True)}
    seen = []
    for i in range(len(store)):
        read, foreseen, document = store[i]
        assert len(read) == len(foreseen) == len(document) <= 8
        assert set(zip(read.tolist(), foreseen.tolist(), strict=True)) <= follows
        seen += foreseen.tolist()
        assert document.tolist() == sorted(document.tolist())
    assert sorted(seen) == sorted([token for text in TEXTS for token in [*text, END]])


def test_a_batch_of_rows() -> None:
    store = pack(TEXTS, Frame(BEGIN, END), 8)
    batch = packed([store[i] for i in range(len(store))], padding=0)
    assert batch.tokens.shape == batch.targets.shape == batch.documents.shape
    real = batch.documents != PADDING
    assert torch.equal(real, batch.targets != IGNORE)
    assert batch.count == int(real.sum()) == sum(len(text) + 1 for text in TEXTS)
    assert batch.to(torch.device("cpu")) is batch
