from __future__ import annotations

import numpy as np
import pytest
import torch

from glassformer.data.batch import ArrayBatch, PairBatch, Room, packed_pair_batch, pad, pair_batch, texts
from glassformer.losses import IGNORE
from glassformer.text import Frame


def arrays(*rows: list[int]) -> list[np.ndarray]:
    return [np.array(row, dtype=np.int32) for row in rows]


CLOSED = Frame(end=2)


def pairs(frame: Frame = CLOSED, pad_to: int = 1) -> PairBatch:
    sources, targets = arrays([5, 6, 7], [8]), arrays([9], [10, 11])
    return pair_batch(sources, targets, padding=0, source=frame, target=Frame(1, 2), pad_to=pad_to)


def test_rows_of_one_width() -> None:
    rows, real = pad(arrays([5, 6], [], [7]), 9)
    assert rows.tolist() == [[5, 6], [9, 9], [7, 9]]
    assert real.tolist() == [[True, True], [False, False], [True, False]]
    assert rows.dtype == torch.int64


def test_something_around_every_row() -> None:
    rows, real = pad(arrays([5, 6], [], [7]), 9, Frame(1, 2))
    assert rows.tolist() == [[1, 5, 6, 2], [1, 2, 9, 9], [1, 7, 2, 9]]
    assert real.sum(axis=1).tolist() == [4, 2, 3]


@pytest.mark.parametrize(
    ("frame", "read", "starts"),
    [
        (Frame(), [5, 6, 7, 8, 0, 0, 0, 0], [0, 3, 4, 8]),
        (Frame(end=2), [5, 6, 7, 2, 8, 2, 0, 0], [0, 4, 6, 8]),
        (Frame(1, 2), [1, 5, 6, 7, 2, 1, 8, 2], [0, 5, 8, 8]),
    ],
)
def test_one_row_without_padding_between_the_sentences(frame: Frame, read: list[int], starts: list[int]) -> None:
    sources, targets = arrays([5, 6, 7], [8]), arrays([9], [10, 11])
    room = Room(tokens=8, sentences=3, longest=8)
    batch = packed_pair_batch(sources, targets, padding=0, source=frame, target=Frame(1, 2), room=room)
    assert batch.source.tolist() == [read] and batch.source.dtype == torch.int64
    assert batch.source_starts.tolist() == starts
    assert batch.target_in.tolist() == [[1, 9, 1, 10, 11, 0, 0, 0]]
    assert batch.target_out.tolist() == [[9, 2, 10, 11, 2, *[IGNORE] * 3]]
    assert batch.target_starts.tolist() == [0, 2, 5, 8]


def test_the_width_is_rounded_up() -> None:
    assert pad(arrays([1, 2, 3, 4, 5]), 0, pad_to=4)[0].shape == (1, 8)
    assert pad(arrays([1, 2, 3, 4]), 0, pad_to=4)[0].shape == (1, 4)
    assert pad(arrays([]), 0)[0].shape == (1, 1)  # a model takes no empty text


def test_teacher_forcing() -> None:
    batch = pairs()
    assert batch.source.tolist() == [[5, 6, 7, 2], [8, 2, 0, 0]]
    assert batch.source_mask is not None
    assert batch.source_mask.tolist() == [[True] * 4, [True, True, False, False]]
    assert batch.target_in is not None
    assert batch.target_in.tolist() == [[1, 9, 0], [1, 10, 11]]
    assert batch.target_out.tolist() == [[9, 2, IGNORE], [10, 11, 2]]
    assert batch.count == 5 == int((batch.target_out != IGNORE).sum())


def test_the_source_may_stay_open() -> None:
    assert pairs(frame=Frame()).source.tolist() == [[5, 6, 7], [8, 0, 0]]
    assert pairs(frame=Frame(3, 4)).source.tolist() == [[3, 5, 6, 7, 4], [3, 8, 4, 0, 0]]


def test_nothing_padded_needs_no_mask() -> None:
    batch = pair_batch(arrays([5, 6], [7, 8]), arrays([9], [10]), padding=0, source=CLOSED, target=Frame(1, 2))
    assert batch.source_mask is None
    assert pairs(pad_to=4).source_mask is not None


def test_both_sides_of_the_target_have_one_shape() -> None:
    for pad_to in (1, 3, 8):
        batch = pairs(pad_to=pad_to)
        assert batch.target_in is not None
        assert batch.target_in.shape == batch.target_out.shape
        assert batch.source.shape[1] % pad_to == 0 == batch.target_out.shape[1] % pad_to


def test_texts_are_framed_and_have_one_target_each() -> None:
    batch = texts(arrays([5, 6, 7], []), np.array([1, 0]), padding=0, frame=Frame(3, 4))
    assert batch.tokens.tolist() == [[3, 5, 6, 7, 4], [3, 4, 0, 0, 0]]
    assert batch.mask is not None and batch.mask.sum(1).tolist() == [5, 2]
    assert (batch.targets.tolist(), batch.count, batch.segments) == ([1, 0], 2, None)
    assert texts(arrays([5], [6]), np.array([1, 0]), padding=0).mask is None
    assert batch.to(torch.device("meta")).tokens.is_meta and batch.to(torch.device("cpu")) is batch


def test_arrays_move_too() -> None:
    batch = ArrayBatch(torch.zeros(2, 3), torch.zeros(2), 2)
    moved = batch.to(torch.device("meta"))
    assert moved.inputs.is_meta and moved.targets.is_meta and moved.count == 2


def test_on_the_cpu_nothing_is_copied() -> None:
    batch = pairs()
    assert batch.to(torch.device("cpu")) is batch


def test_it_moves_to_another_device() -> None:
    moved = pairs().to(torch.device("meta"))
    assert moved.source.is_meta and moved.target_out.is_meta and moved.count == 5
    assert moved.source_mask is not None and moved.source_mask.is_meta


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator")
def test_it_moves_to_an_accelerator() -> None:
    moved = pairs().to(torch.device("cuda"))
    assert moved.source.is_cuda and moved.source.tolist() == pairs().source.tolist()
